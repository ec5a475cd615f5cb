package import MigrationArchive

/// An app's storage as its rules see it, by the paths on iOS.
package struct DataTree: Sendable {
    /// The kind of an item in the storage.
    package enum Kind: Hashable, Sendable {
        case file(size: UInt64)
        case directory
        case link(target: [UInt8])
        case other

        /// The size of a file in bytes, 0 for everything else.
        package var bytes: UInt64 {
            if case .file(let size) = self { size } else { 0 }
        }
    }

    struct Node: Sendable {
        fileprivate let name: [UInt8]
        fileprivate let parent: Int
        var kind: Kind
        var children: [[UInt8]: Int] = [:]
        /// The secret found in the first bytes of a database or preferences.
        var secret: DeviceBoundSecret?
    }

    /// The maximum number of links that are followed for one path (Linux, 40).
    private static let linkLimit = 40

    /// The limit on the bytes of all paths, and on ``nameCost`` for each name: a million usual items.
    ///
    /// A preview makes every path, and a few bytes of a compressed backup can name thousands of long ones.
    private static let pathsLimit = 128 << 20
    /// The bytes that can be copied in the time that finding one more name of a path takes.
    private static let nameCost = 16

    private var nodes = [Node(name: [], parent: 0, kind: .directory)]
    private var pathBytes = 0

    /// Makes an empty tree.
    package init() {}

    /// Inserts an item at `path`, and any missing directories above it.
    package mutating func insert(at path: EntryPath, kind: Kind, head: [UInt8] = []) {
        var (index, length) = (0, 0)
        for name in path.components {
            let name = [UInt8](name)
            length += name.count + Self.nameCost
            if let next = nodes[index].children[name] {
                index = next
                continue
            }
            nodes.append(Node(name: name, parent: index, kind: .directory))
            nodes[index].children[name] = nodes.count - 1
            index = nodes.count - 1
            pathBytes += length
        }
        // A directory that is inserted again keeps its contents.
        if kind != .directory || nodes[index].children.isEmpty { nodes[index].kind = kind }
        nodes[index].secret = DeviceBoundSecret(in: head, at: path)
    }

    /// The index of the item at `path`; links are not followed.
    func index(of path: EntryPath) -> Int? {
        var index = 0
        for name in path.components where !name.isEmpty {
            guard let next = nodes[index].children[[UInt8](name)] else { return nil }
            index = next
        }
        return index
    }

    subscript(index: Int) -> Node { nodes[index] }

    /// The path of an item; it isn't stored, because paths dominate the size of deep trees.
    func path(of index: Int) -> EntryPath {
        var reversed: [UInt8] = []
        var index = index
        while index > 0 {
            if !reversed.isEmpty { reversed.append(UInt8(ascii: "/")) }
            reversed += nodes[index].name.reversed()
            index = nodes[index].parent
        }
        return EntryPath(bytes: reversed.reversed())
    }

    /// Refuses more items than a preview can hold.
    func checkSize() throws(AndroidMigrationError) {
        guard pathBytes <= Self.pathsLimit else {
            let message = "the app's data has more files than can be looked at, or longer paths"
            throw AndroidMigrationError(.unsupported, message)
        }
    }

    /// The indices of a directory's items, in the order of their names.
    func children(of index: Int) -> [Int] {
        nodes[index].children
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map(\.value)
    }

    /// The index of the item at `path` after following all links; `nil` if there is none.
    func resolve(_ path: EntryPath) -> Int? {
        var rest = path.components.filter { !$0.isEmpty }.map { [UInt8]($0) }
        var way = [0]
        var followed = 0
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                // Nothing is known above the app's directory.
                guard way.count > 1 else { return nil }
                way.removeLast()
                continue
            }
            guard let next = nodes[way[way.count - 1]].children[name] else { return nil }
            guard case .link(let target) = nodes[next].kind else {
                way.append(next)
                continue
            }
            followed += 1
            guard followed <= Self.linkLimit, let end = Self.end(of: target) else { return nil }
            if end.isAbsolute { way = [0] }
            rest = end.names + rest
        }
        return way.last
    }

    /// Where a link leads, from its directory or from the tree's root.
    private static func end(of target: [UInt8]) -> (names: [[UInt8]], isAbsolute: Bool)? {
        let names = target.split(separator: UInt8(ascii: "/")).map { [UInt8]($0) }
        guard target.first == UInt8(ascii: "/") else { return (names, false) }
        return DevicePath(names).map { ($0.components, true) }
    }
}

/// A path in an app's storage, parsed from its path on a device.
struct DevicePath {
    /// The names of the path as on iOS.
    let components: [[UInt8]]

    /// The package that owns the storage.
    let package: String

    /// Parses an absolute path; `nil` if it isn't in an app's storage.
    init?(_ names: [[UInt8]]) {
        let words = names.prefix(4).map { String(decoding: $0, as: UTF8.self) }
        let (count, prefix): (Int, [String]) =
            switch (words.first, words.dropFirst().first) {
            case ("data", "data"): (3, ["app"])
            case ("data", "user"): (4, ["app"])
            case ("data", "user_de"): (4, ["device", "app"])
            default: (0, [])
            }
        guard count > 0, names.count >= count else { return nil }
        package = String(decoding: names[count - 1], as: UTF8.self)
        components = prefix.map { [UInt8]($0.utf8) } + names.dropFirst(count)
    }
}
