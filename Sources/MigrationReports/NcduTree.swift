package import MigrationArchive
internal import MigrationCore

/// The tree of an archive's entries as `ncdu -f` reads it.
///
/// Entries come in any order, and ncdu needs a tree, so all names are kept in memory, as in ncdu
/// itself: a million files take 117 MB.
package struct NcduTree {
    private struct Facts {
        var bytes: UInt64 = 0
        var time: Int64 = 0
        var permissions: UInt16 = 0
        var kind = Kind.directory
    }

    private enum Kind: UInt8 {
        case directory, file, link, hardLink
    }

    private var names = NameTree()
    private var facts = [Facts()]
    /// The files that have further names, by the node of each further name.
    private var targets: [Int32: EntryPath] = [:]

    package init() {}

    /// Adds an entry.
    package mutating func add(_ entry: ArchiveEntry) {
        let node =
            entry.kind == .directory
            ? names.directory(at: entry.path.bytes[...])
            : names.make(
                entry.path.lastComponent,
                in: names.directory(at: NameTree.parent(of: entry.path))
            )
        while facts.count < names.count { facts.append(Facts()) }
        facts[Int(node)].time = entry.modificationTime.seconds
        facts[Int(node)].permissions = entry.permissions
        switch entry.kind {
        case .directory: break
        case .file(let size):
            facts[Int(node)].kind = .file
            facts[Int(node)].bytes = size
        case .symbolicLink: facts[Int(node)].kind = .link
        case .hardLink(let target):
            facts[Int(node)].kind = .hardLink
            targets[node] = target
        }
    }
}

// MARK: - Output

extension NcduTree {
    /// Writes the tree, whose root is called `name`, as the JSON that ncdu 1.9 and later read.
    ///
    /// - Throws: What `write` throws.
    package func write(named name: [UInt8], to write: ([UInt8]) throws -> Void) throws {
        let files = filesWithFurtherNames()
        let program = #"{"progname":"migrate","progver":"\#(MigrationHost.version)"}"#
        let root = object(NameTree.root, named: name, files: files)
        try write(Array("[1,2,\(program),\n[".utf8) + root)
        // The directories on the way to a node, each with the next of its children.
        var path = [names.children(of: NameTree.root)[...]]
        while let node = path.last?.first {
            path[path.count - 1].removeFirst()
            let isDirectory = facts[Int(node)].kind == .directory
            let head = Array((isDirectory ? ",\n[" : ",\n").utf8)
            try write(head + object(node, named: names.name(of: node), files: files))
            if isDirectory { path.append(names.children(of: node)[...]) }
            while let last = path.last, last.isEmpty {
                try write([UInt8(ascii: "]")])
                path.removeLast()
            }
        }
        if !path.isEmpty { try write([UInt8(ascii: "]")]) }
        try write(Array("]\n".utf8))
    }

    /// The node of the file for each node that is a name of a file with several.
    private func filesWithFurtherNames() -> [Int32: Int32] {
        if targets.isEmpty { return [:] }
        var wanted: [Int32: [[UInt8]: [Int32]]] = [:]
        for (node, target) in targets {
            guard let parent = names.knownDirectory(at: NameTree.parent(of: target)) else {
                continue
            }
            wanted[parent, default: [:]][[UInt8](target.lastComponent), default: []].append(node)
        }
        var files: [Int32: Int32] = [:]
        for (parent, links) in wanted {
            for node in names.children(of: parent) where facts[Int(node)].kind == .file {
                guard let links = links[names.name(of: node)] else { continue }
                for name in links + [node] { files[name] = node }
            }
        }
        return files
    }

    private func object(_ node: Int32, named name: [UInt8], files: [Int32: Int32]) -> [UInt8] {
        let (file, facts) = (files[node], facts[Int(node)])
        let bytes = self.facts[Int(file ?? node)].bytes
        var fields = #""asize":\#(bytes),"dsize":\#(bytes)"#
        if facts.time >= 0 { fields += #","mtime":\#(facts.time)"# }
        if let file { fields += #","ino":\#(file),"hlnkc":true"# }
        let mode =
            switch facts.kind {
            case .directory: 0o040_000
            case .file, .hardLink: 0o100_000
            case .link: 0o120_000
            }
        fields += #","mode":\#(mode | Int(facts.permissions))"#
        if facts.kind == .link { fields += #","notreg":true"# }
        return Array(#"{"name":""#.utf8) + Self.escaping(name) + Array("\",\(fields)}".utf8)
    }

    /// The name in a JSON string; ncdu accepts bytes that are not valid UTF-8.
    private static func escaping(_ name: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in name {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F: result += Array("\\u00\(hexadecimal(byte))".utf8)
            default: result.append(byte)
            }
        }
        return result
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
    }
}
