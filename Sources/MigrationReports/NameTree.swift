internal import MigrationArchive

/// The names of a tree of files in little memory; trees store their facts by node number.
struct NameTree {
    private struct Node {
        let parent: Int32
        let nameStart: Int
        let nameCount: Int32
        /// The last of the node's children so far, which are chained by ``older``.
        var youngest: Int32 = -1
        let older: Int32
    }

    private struct Key: Hashable {
        let parent: Int32
        let name: ArraySlice<UInt8>
    }

    static let root: Int32 = 0

    private var nodes = [Node(parent: -1, nameStart: 0, nameCount: 0, older: -1)]
    private var names: [UInt8] = []
    /// The directories by their parent and name: whole paths would take memory quadratic in the
    /// depth.
    private var directories: [Key: Int32] = [:]

    var count: Int { nodes.count }

    func name(of node: Int32) -> [UInt8] {
        let node = nodes[Int(node)]
        return Array(names[node.nameStart..<node.nameStart + Int(node.nameCount)])
    }

    /// The directory of `node`; `nil` for the root.
    func parent(of node: Int32) -> Int32? {
        node == Self.root ? nil : nodes[Int(node)].parent
    }

    /// The nodes in a directory, in the order in which they were made.
    func children(of node: Int32) -> [Int32] {
        var children: [Int32] = []
        var next = nodes[Int(node)].youngest
        while next >= 0 {
            children.append(next)
            next = nodes[Int(next)].older
        }
        return children.reversed()
    }

    /// The directory that holds the entry at `path`, as a path.
    static func parent(of path: EntryPath) -> ArraySlice<UInt8> {
        path.bytes[..<(path.bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
    }

    /// Makes a node.
    mutating func make(_ name: ArraySlice<UInt8>, in parent: Int32) -> Int32 {
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

    /// The directory at `path`, which is made if it is missing, or the last one above it that the limits
    /// of the number of nodes and of the depth allow.
    mutating func directory(
        at path: ArraySlice<UInt8>,
        limit: Int = .max,
        depth: Int = .max
    ) -> Int32 {
        var node = Self.root
        for name in path.split(separator: UInt8(ascii: "/")).prefix(depth) {
            if let known = directories[Key(parent: node, name: name)] {
                node = known
            } else {
                guard count < limit else { break }
                // A slice would keep the whole path in memory.
                let key = Key(parent: node, name: [UInt8](name)[...])
                node = make(name, in: node)
                directories[key] = node
            }
        }
        return node
    }

    /// The directory at `path`, if there is one.
    func knownDirectory(at path: ArraySlice<UInt8>) -> Int32? {
        var node = Self.root
        for name in path.split(separator: UInt8(ascii: "/")) {
            guard let next = directories[Key(parent: node, name: name)] else { return nil }
            node = next
        }
        return node
    }
}
