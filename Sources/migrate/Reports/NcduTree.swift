internal import MigrationArchive
internal import MigrationCore

/// The tree of an archive's entries as `ncdu -f` reads it.
///
/// Entries come in any order, and ncdu wants a tree, so all names are kept, as ncdu itself keeps them: a
/// million files take 117 MB.
struct NcduTree {
    private struct Node {
        let parent: Int32
        let nameStart: Int
        let nameCount: Int32
        /// The last of the node's children so far, which are chained by ``older``.
        var youngest: Int32 = -1
        let older: Int32
        var bytes: UInt64 = 0
        var time: Int64 = 0
        var permissions: UInt16 = 0
        var kind = Kind.directory
    }

    private struct Place: Hashable {
        let parent: Int32
        let name: ArraySlice<UInt8>
    }

    private enum Kind: UInt8 {
        case directory, file, link, hardLink
    }

    private var nodes = [
        Node(parent: -1, nameStart: 0, nameCount: 0, older: -1)
    ]
    private var names: [UInt8] = []
    /// The directories by their parent and name: whole paths would take memory by the square of the
    /// depth.
    private var directories: [Place: Int32] = [:]
    /// The files that have further names, by the node of each further name.
    private var targets: [Int32: EntryPath] = [:]

    /// Adds an entry.
    mutating func add(_ entry: ArchiveEntry) {
        let node =
            entry.kind == .directory
            ? directory(at: entry.path.bytes[...])
            : make(entry.path.lastComponent, in: directory(at: Self.parent(of: entry.path)))
        nodes[Int(node)].time = entry.modificationTime.seconds
        nodes[Int(node)].permissions = entry.permissions
        switch entry.kind {
        case .directory: break
        case .file(let size):
            nodes[Int(node)].kind = .file
            nodes[Int(node)].bytes = size
        case .symbolicLink: nodes[Int(node)].kind = .link
        case .hardLink(let target):
            nodes[Int(node)].kind = .hardLink
            targets[node] = target
        }
    }

    private static func parent(of path: EntryPath) -> ArraySlice<UInt8> {
        path.bytes[..<(path.bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
    }

    private mutating func directory(at path: ArraySlice<UInt8>) -> Int32 {
        var node: Int32 = 0
        for name in path.split(separator: UInt8(ascii: "/")) {
            if let known = directories[Place(parent: node, name: name)] {
                node = known
            } else {
                // A slice would keep the whole path.
                let place = Place(parent: node, name: [UInt8](name)[...])
                node = make(name, in: node)
                directories[place] = node
            }
        }
        return node
    }

    private mutating func make(_ name: ArraySlice<UInt8>, in parent: Int32) -> Int32 {
        let node = Int32(nodes.count)
        nodes.append(
            Node(
                parent: parent,
                nameStart: names.count,
                nameCount: Int32(name.count),
                older: nodes[Int(parent)].youngest
            )
        )
        names.append(contentsOf: name)
        nodes[Int(parent)].youngest = node
        return node
    }
}

// MARK: - Output

extension NcduTree {
    /// Writes the tree, whose root is called `name`, as the JSON that ncdu 1.9 and later read.
    ///
    /// - Throws: What `write` throws.
    func write(named name: [UInt8], to write: ([UInt8]) throws -> Void) throws {
        let files = filesWithFurtherNames()
        let program = #"{"progname":"migrate","progver":"\#(MigrationHost.version)"}"#
        try write(Array("[1,2,\(program),\n[".utf8) + object(0, named: name, files: files))
        // The directories on the way to a node, each with the next of its children.
        var path = [children(of: 0)[...]]
        while let node = path.last?.first {
            path[path.count - 1].removeFirst()
            let isDirectory = nodes[Int(node)].kind == .directory
            let head = Array((isDirectory ? ",\n[" : ",\n").utf8)
            try write(head + object(node, named: self.name(of: node), files: files))
            if isDirectory { path.append(children(of: node)[...]) }
            while let last = path.last, last.isEmpty {
                try write([UInt8(ascii: "]")])
                path.removeLast()
            }
        }
        if !path.isEmpty { try write([UInt8(ascii: "]")]) }
        try write(Array("]\n".utf8))
    }

    private func name(of node: Int32) -> [UInt8] {
        let node = nodes[Int(node)]
        return Array(names[node.nameStart..<node.nameStart + Int(node.nameCount)])
    }

    private func children(of node: Int32) -> [Int32] {
        var children: [Int32] = []
        var next = nodes[Int(node)].youngest
        while next >= 0 {
            children.append(next)
            next = nodes[Int(next)].older
        }
        return children.reversed()
    }

    /// The node of the file for each node that is a name of a file with several.
    private func filesWithFurtherNames() -> [Int32: Int32] {
        if targets.isEmpty { return [:] }
        var wanted: [Place: [Int32]] = [:]
        for (node, target) in targets {
            guard let parent = knownDirectory(at: Self.parent(of: target)) else { continue }
            wanted[Place(parent: parent, name: target.lastComponent), default: []].append(node)
        }
        var files: [Int32: Int32] = [:]
        for node in nodes.indices.dropFirst() where nodes[node].kind == .file {
            let place = Place(parent: nodes[node].parent, name: name(of: Int32(node))[...])
            guard let links = wanted[place] else { continue }
            files[Int32(node)] = Int32(node)
            for link in links { files[link] = Int32(node) }
        }
        return files
    }

    private func knownDirectory(at path: ArraySlice<UInt8>) -> Int32? {
        var node: Int32 = 0
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let next = directories[Place(parent: node, name: name)] else { return nil }
            node = next
        }
        return node
    }

    private func object(_ node: Int32, named name: [UInt8], files: [Int32: Int32]) -> [UInt8] {
        let file = files[node]
        let bytes = nodes[Int(file ?? node)].bytes
        let (time, permissions) = (nodes[Int(node)].time, nodes[Int(node)].permissions)
        var fields = #""asize":\#(bytes),"dsize":\#(bytes)"#
        if time >= 0 { fields += #","mtime":\#(time)"# }
        if let file { fields += #","ino":\#(file),"hlnkc":true"# }
        let mode =
            switch nodes[Int(node)].kind {
            case .directory: 0o040_000
            case .file, .hardLink: 0o100_000
            case .link: 0o120_000
            }
        fields += #","mode":\#(mode | Int(permissions))"#
        if nodes[Int(node)].kind == .link { fields += #","notreg":true"# }
        return Array(#"{"name":""#.utf8) + Self.escaping(name) + Array("\",\(fields)}".utf8)
    }

    /// The name in a JSON string; ncdu takes bytes that are not valid UTF-8 as they are.
    private static func escaping(_ name: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in name {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F:
                let digits = String(byte, radix: 16)
                result += Array(("\\u00" + (digits.count == 1 ? "0" : "") + digits).utf8)
            default: result.append(byte)
            }
        }
        return result
    }
}
