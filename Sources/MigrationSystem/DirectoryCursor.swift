/// Reaches directories beneath a root, component by component, never through a link.
///
/// The directories on the way to the last one stay open, so that what lies beside it is reached
/// with few calls. Deeper than ``openLevels`` the upper ones are closed and opened again when needed.
package final class DirectoryCursor<Directory> {
    private let root: Directory
    private let open: (Directory, ByteString) throws(SystemError) -> Directory
    private var names: [ByteString] = []
    private var directories: [Directory?] = []

    /// How many directories were opened so far.
    package private(set) var openCount = 0

    /// The most directories that are open at a time.
    static var openLevels: Int { 64 }

    /// Begins at `root`; `open` opens the directory of a name in another one, links not followed.
    package init(
        root: Directory,
        open: @escaping (Directory, ByteString) throws(SystemError) -> Directory
    ) {
        self.root = root
        self.open = open
    }

    /// How many directories below the root the last one lies that was reached.
    package var depth: Int { names.count }

    /// The open root.
    package var rootDirectory: Directory { root }

    /// Opens the directory at `path`, whose components are its names from the root down.
    package func directory(
        at path: some Collection<ArraySlice<UInt8>>
    ) throws(SystemError) -> Directory {
        let depth = reachedDepth(of: path)
        truncate(to: depth)
        for name in path.dropFirst(depth) { try descend(to: ByteString(name)) }
        return try deepest()
    }

    /// How many of the directories on the way to `path` were reached last.
    package func reachedDepth(of path: some Collection<ArraySlice<UInt8>>) -> Int {
        var depth = 0
        for name in path {
            guard depth < names.count, names[depth][...] == name else { break }
            depth += 1
        }
        return depth
    }

    /// Forgets the directories below `depth` levels, because one of them was replaced or removed.
    package func truncate(to depth: Int) {
        guard depth < names.count else { return }
        names.removeLast(names.count - depth)
        directories.removeLast(directories.count - depth)
    }

    /// Opens the directory `name` in the last one that was reached.
    @discardableResult
    package func descend(to name: ByteString) throws(SystemError) -> Directory {
        let parent = try deepest()
        let child = try open(parent, name)
        openCount += 1
        names.append(name)
        directories.append(child)
        let closed = directories.count - 1 - Self.openLevels
        if closed >= 0 { directories[closed] = nil }
        return child
    }

    /// The last directory that was reached, also where a path went on to one that is missing.
    package func deepest() throws(SystemError) -> Directory {
        guard let last = directories.last else { return root }
        if let last { return last }
        try reopen()
        return try deepest()
    }

    /// Opens the lowest levels again, from the lowest one above them that is still open.
    private func reopen() throws(SystemError) {
        var depth = directories.count
        while depth > 0, directories[depth - 1] == nil { depth -= 1 }
        var directory = depth == 0 ? root : directories[depth - 1] ?? root
        for level in depth..<directories.count {
            directory = try open(directory, names[level])
            openCount += 1
            if level >= directories.count - Self.openLevels { directories[level] = directory }
        }
    }
}

extension DirectoryCursor<OpenFile> {
    /// Begins at `root`.
    package convenience init(root: consuming FileDescriptor) {
        self.init(root: OpenFile(root)) { directory, name throws(SystemError) in
            OpenFile(try directory.descriptor.open(name, .directory))
        }
    }
}
