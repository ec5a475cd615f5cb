/// Reaches directories beneath a root, component by component, never through a link.
///
/// The directories on the way to the last one stay open, so that what lies beside it is reached
/// with few calls. Deeper than ``openLevels`` the upper ones are closed and opened again when needed.
package final class DirectoryCursor {
    /// The most directories that are open at a time.
    static let openLevels = 64

    private let root: OpenFile
    private var names: [ByteString] = []
    private var directories: [OpenFile?] = []

    /// Begins at `root`.
    package init(root: consuming FileDescriptor) {
        self.root = OpenFile(root)
    }

    /// How many directories below the root the last one lies that was reached.
    package var depth: Int { names.count }

    /// The open root.
    package var rootDirectory: OpenFile { root }

    /// Opens the directory at `path`, whose components are its names from the root down.
    package func directory(
        at path: some Collection<ArraySlice<UInt8>>
    ) throws(SystemError) -> OpenFile {
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
    package func descend(to name: ByteString) throws(SystemError) -> OpenFile {
        let parent = try deepest()
        let child = OpenFile(try parent.descriptor.open(name, .directory))
        names.append(name)
        directories.append(child)
        let closed = directories.count - 1 - Self.openLevels
        if closed >= 0 { directories[closed] = nil }
        return child
    }

    /// The last directory that was reached, also where a path went on to one that is missing.
    package func deepest() throws(SystemError) -> OpenFile {
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
            directory = OpenFile(try directory.descriptor.open(names[level], .directory))
            if level >= directories.count - Self.openLevels { directories[level] = directory }
        }
    }
}
