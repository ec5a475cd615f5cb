internal import MigrationArchive
internal import MigrationSystem

/// Walks a tree in the order of an archive: a directory before what is in it, names in byte order.
///
/// No link is followed, no path is longer than a name, and few directories are open at a time,
/// however deep the tree is. A directory that changes while it is walked ends the walk.
struct SourceWalker {
    private struct Level {
        /// The open directory; `nil` while the walk is far below it.
        var directory: OpenFile?
        let listing: DirectoryListing
        let status: FileStatus
        let pathCount: Int
        var index = 0
    }

    /// The most files in a run: between two of them a cancellation is seen.
    private static let longestRun = 4096

    /// The most levels whose directories are open at a time.
    private static let openLevels = 64

    private let cancellation: CancellationFlag
    private var levels: [Level] = []
    private var path: ByteString
    private var directory: OpenFile

    /// Prepares a walk over what is in `root`, whose own path in the archive is `base`.
    init(
        root: consuming FileDescriptor,
        base: ByteString = [],
        cancellation: CancellationFlag
    ) {
        path = base
        directory = OpenFile(root)
        self.cancellation = cancellation
    }

    /// Walks the tree.
    mutating func walk<Visitor: SourceVisitor>(_ visitor: inout Visitor) throws {
        try enterLevel(try statusOfDirectory())
        while !levels.isEmpty {
            try cancellation.check()
            if Visitor.takesRuns, let run = nextRun() {
                try visitor.visit(run)
                continue
            }
            guard let name = nextName() else {
                try leaveLevel(&visitor)
                continue
            }
            let item = try item(named: name)
            if item.status.kind == .directory {
                try enter(item, &visitor)
            } else {
                try visitor.visit(item)
            }
        }
    }

    private mutating func nextName() -> ByteString? {
        let last = levels.count - 1
        guard levels[last].index < levels[last].listing.count else { return nil }
        levels[last].index += 1
        return levels[last].listing[levels[last].index - 1]
    }

    /// The files that come next, up to a name that is none or not known to be one.
    private mutating func nextRun() -> FileRun? {
        let last = levels.count - 1
        let (start, listing) = (levels[last].index, levels[last].listing)
        let limit = min(listing.count, start + Self.longestRun)
        var end = start
        while end < limit, listing.saysRegularFile(at: end) { end += 1 }
        guard end > start else { return nil }
        levels[last].index = end
        return FileRun(directory: directory, path: path, listing: listing, range: start..<end)
    }

    private func item(named name: ByteString) throws -> SourceItem {
        let itemPath = path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
        return try SourceItem(named: name, at: itemPath, in: directory)
    }

    private mutating func enter(_ item: SourceItem, _ visitor: inout some SourceVisitor) throws {
        let opened: OpenFile
        do {
            opened = OpenFile(try directory.descriptor.open(item.name, .directory))
        } catch {
            if error.isDenied, try visitor.passesOver(item) { return }
            throw Self.unreadable(item.path, error)
        }
        guard try visitor.enter(item, opened: opened) else { return }
        path = item.path
        directory = opened
        let status = try statusOfDirectory()
        guard status.isUnchanged(since: item.status) else { throw Self.changed(item.path) }
        try enterLevel(status)
    }

    private mutating func enterLevel(_ status: FileStatus) throws {
        do {
            let listing = try DirectoryListing(of: directory.descriptor)
            levels.append(
                Level(
                    directory: directory,
                    listing: listing,
                    status: status,
                    pathCount: path.count
                )
            )
        } catch {
            throw Self.unreadable(path, error)
        }
        let closed = levels.count - 1 - Self.openLevels
        if closed >= 0 { levels[closed].directory = nil }
    }

    private mutating func leaveLevel(_ visitor: inout some SourceVisitor) throws {
        let level = levels.removeLast()
        try visitor.leave(
            WalkedDirectory(path: path, opened: directory, status: level.status)
        )
        guard let parent = levels.last else { return }
        path = ByteString(path.prefix(parent.pathCount))
        directory = try parent.directory ?? directoryAbove()
        guard try statusOfDirectory().identity == parent.status.identity else {
            throw Self.changed(path)
        }
        levels[levels.count - 1].directory = directory
    }

    /// Opens what is above the directory: its own parent only while nobody moves it.
    private func directoryAbove() throws(ArchiveError) -> OpenFile {
        do {
            return OpenFile(try directory.descriptor.open([UInt8]("..".utf8), .directory))
        } catch {
            throw Self.unreadable(path, error)
        }
    }

    private func statusOfDirectory() throws -> FileStatus {
        do {
            return try directory.descriptor.status()
        } catch {
            throw Self.unreadable(path, error)
        }
    }

    static func changed(_ path: ByteString) -> ArchiveError {
        let message = "the directory changed during the export"
        return ArchiveError(.sourceChanged, message, entry: shown(path))
    }

    static func unreadable(_ path: ByteString, _ error: SystemError) -> ArchiveError {
        let code: ArchiveError.Code =
            error.isMissing || error.isNotDirectory ? .sourceChanged : .sourceUnreadable
        return ArchiveError(code, "can't be read", entry: shown(path), cause: error)
    }

    private static func shown(_ path: ByteString) -> EntryPath {
        path.isEmpty ? EntryPath(".") : EntryPath(bytes: path)
    }
}
