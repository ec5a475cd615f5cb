internal import MigrationArchive
internal import MigrationContract
internal import MigrationSystem

/// Decides in an extension's process which appends are certain to succeed, for ``AppendPolicy/ahead``.
struct AppendAhead {
    private let container: ByteString
    private let root: OpenFile
    private let user = FileStatus.currentUser
    private var paths = ArchivedPaths()
    /// Directories that were appended as a whole; only the host knows the files in them.
    private var trees: Set<EntryPath> = []
    /// The directory of the last file.
    private var last: (path: ArraySlice<UInt8>, directory: OpenFile)?

    /// Looks at files in the container at `container`, an absolute path with no link in it.
    init(container: ByteString) throws(SystemError) {
        self.container = container
        root = OpenFile(try FileDescriptor.open(container, .directory))
    }

    /// Whether the item at `source` will be archived under `name`; it is then taken as archived.
    mutating func takesForCertain(_ source: ByteString, as name: ByteString) -> Bool {
        let path = EntryPath(bytes: name)
        guard path.violation == nil, !liesInTree(path), isReadableFile(source) else { return false }
        return insert(path, isDirectory: false)
    }

    /// Takes note of an item that the host archived after it was asked.
    mutating func insert(_ source: ByteString, as name: ByteString) {
        let path = EntryPath(bytes: name)
        let isDirectory = isDirectory(source)
        _ = insert(path, isDirectory: isDirectory)
        if isDirectory { trees.insert(path) }
    }

    private mutating func insert(_ path: EntryPath, isDirectory: Bool) -> Bool {
        do {
            _ = try paths.insert(path, isDirectory: isDirectory)
            return true
        } catch {
            return false
        }
    }

    private func liesInTree(_ path: EntryPath) -> Bool {
        guard !trees.isEmpty else { return false }
        var next: EntryPath? = path
        while let ancestor = next {
            if trees.contains(ancestor) { return true }
            next = ancestor.parent
        }
        return false
    }

    private func isDirectory(_ source: ByteString) -> Bool {
        do {
            return try FileDescriptor.status(atPath: source).kind == .directory
        } catch {
            // Whatever it was, nothing beneath its name is certain now.
            return true
        }
    }

    private mutating func isReadableFile(_ source: ByteString) -> Bool {
        let slash = UInt8(ascii: "/")
        guard let end = source.lastIndex(of: slash), end >= container.count else { return false }
        let parent = source[..<end]
        let name = source[(end + 1)...]
        do throws(SystemError) {
            let directory = try self.directory(at: parent)
            guard let status = try directory?.descriptor.status(of: name) else { return false }
            return status.kind == .regular && status.isReadableByBits(to: user)
        } catch {
            return false
        }
    }

    private mutating func directory(
        at path: ArraySlice<UInt8>
    ) throws(SystemError) -> OpenFile? {
        if let last, last.path.span.isEqual(to: path.span) { return last.directory }
        guard path.starts(with: container) else { return nil }
        let rest = path.dropFirst(container.count)
        if rest.isEmpty { return root }
        let relative = ByteString(rest.dropFirst())
        let names = relative.split(separator: UInt8(ascii: "/")).lazy.map(ByteString.init)
        let first = names.first { $0 != ByteString(utf8: ".") }
        guard rest.first == UInt8(ascii: "/"), first != ContainerLayout.bookkeepingName
        else { return nil }
        let directory = OpenFile(try root.descriptor.openDirectoryBeneath(relative))
        last = (path, directory)
        return directory
    }
}
