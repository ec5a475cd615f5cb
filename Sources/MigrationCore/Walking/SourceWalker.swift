package import MigrationArchive
package import MigrationSystem

/// Walks a tree in the order of an archive: a directory before its contents, names in byte order.
///
/// The walk follows no links, passes only single names to the system, and keeps few directories
/// open, even in deep trees. If a directory changes meanwhile, the walk fails.
package struct SourceWalker {
    private struct Level {
        /// The open directory; `nil` while the walk is far below it.
        var directory: OpenFile?
        let listing: DirectoryListing
        let status: FileStatus
        let pathCount: Int
        var index = 0
    }

    /// The longest run of files: a cancellation takes effect between two runs.
    private static let longestRun = 4096

    /// The maximum number of directories that are open at a time.
    private static let openLevels = 64

    private let operation: MigrationOperation
    private var levels: [Level] = []
    private let path: WalkedPath
    private var directory: OpenFile

    /// Walks the contents of `root`, whose own path in the archive is `base`.
    package static func walk(
        _ root: OpenFile,
        at base: [UInt8] = [],
        on operation: MigrationOperation,
        visiting visitor: inout some SourceVisitor
    ) throws {
        var walker = SourceWalker(
            operation: operation,
            path: WalkedPath(base),
            directory: root
        )
        try walker.walk(&visitor)
    }

    private mutating func walk<Visitor: SourceVisitor>(_ visitor: inout Visitor) throws {
        try enterLevel(try statusOfDirectory())
        while !levels.isEmpty {
            try operation.check()
            if Visitor.visitsRuns, let run = nextRun() {
                try visitor.visit(run)
                continue
            }
            guard let name = nextName() else {
                try leaveLevel(&visitor)
                continue
            }
            let item = try SourceItem(named: name, at: .beneath(path), in: directory)
            if item.status.kind == .directory {
                try enter(item, &visitor)
            } else {
                try visitor.visit(item)
            }
        }
    }

    private mutating func nextName() -> ArraySlice<UInt8>? {
        let last = levels.count - 1
        guard levels[last].index < levels[last].listing.count else { return nil }
        levels[last].index += 1
        return levels[last].listing[levels[last].index - 1][...]
    }

    /// The next files, up to a name that may not be a file.
    private mutating func nextRun() -> FileRun? {
        let last = levels.count - 1
        let (start, listing) = (levels[last].index, levels[last].listing)
        let limit = min(listing.count, start + Self.longestRun)
        var end = start
        while end < limit, listing.saysRegularFile(at: end) { end += 1 }
        guard end > start else { return nil }
        levels[last].index = end
        return FileRun(
            directory: directory,
            status: levels[last].status,
            path: path.bytes,
            listing: listing,
            range: start..<end
        )
    }

    private mutating func enter(_ item: SourceItem, _ visitor: inout some SourceVisitor) throws {
        let opened: OpenFile
        do {
            opened = try item.open(.directory)
        } catch {
            if error.isDenied, try visitor.passesOver(item) { return }
            throw Self.unreadable(item.path, error)
        }
        guard try visitor.enter(item, opened: opened) else { return }
        path.enter(item.name)
        directory = opened
        let status = try statusOfDirectory()
        guard status.isUnchanged(since: item.status) else { throw Self.changed(path.bytes) }
        try enterLevel(status)
    }

    private mutating func enterLevel(_ status: FileStatus) throws {
        let listing = try Self.reading(path.bytes) { () throws(SystemError) in
            try DirectoryListing(of: directory.descriptor)
        }
        levels.append(
            Level(
                directory: directory,
                listing: listing,
                status: status,
                pathCount: path.bytes.count
            )
        )
        let closed = levels.count - 1 - Self.openLevels
        if closed >= 0 { levels[closed].directory = nil }
    }

    private mutating func leaveLevel(_ visitor: inout some SourceVisitor) throws {
        let level = levels.removeLast()
        try visitor.leave(
            WalkedDirectory(walkedPath: path, opened: directory, status: level.status)
        )
        guard let parent = levels.last else { return }
        path.leave(to: parent.pathCount)
        if let above = parent.directory {
            directory = above
        } else {
            // If the directory was moved, this is a different one.
            directory = try Self.reading(path.bytes) { () throws(SystemError) in
                OpenFile(try directory.descriptor.open([UInt8]("..".utf8), .directory))
            }
        }
        guard try statusOfDirectory().identity == parent.status.identity else {
            throw Self.changed(path.bytes)
        }
        levels[levels.count - 1].directory = directory
    }

    private func statusOfDirectory() throws(ArchiveError) -> FileStatus {
        try Self.reading(path.bytes) { () throws(SystemError) in try directory.descriptor.status() }
    }

    /// Returns the result of `body`, which reads the item at `path`; its error becomes that of an unreadable item.
    static func reading<Result>(
        _ path: @autoclosure () -> [UInt8],
        _ body: () throws(SystemError) -> Result
    ) throws(ArchiveError) -> Result {
        do {
            return try body()
        } catch {
            throw unreadable(path(), error)
        }
    }

    static func changed(_ path: [UInt8]) -> ArchiveError {
        let message = "the directory changed during the export"
        return ArchiveError(.sourceChanged, message, entry: shown(path))
    }

    package static func unreadable(_ path: [UInt8], _ error: SystemError) -> ArchiveError {
        let code: ArchiveError.Code =
            error.isMissing || error.isNotDirectory ? .sourceChanged : .sourceUnreadable
        return ArchiveError(code, "can't be read", entry: shown(path), cause: error)
    }

    private static func shown(_ path: [UInt8]) -> EntryPath {
        path.isEmpty ? EntryPath(".") : EntryPath(bytes: path)
    }
}

// MARK: - Visitors

/// The actions at each step of a walk.
package protocol SourceVisitor {
    /// Visits an item that is not a directory.
    mutating func visit(_ item: SourceItem) throws

    /// Visits a directory, open as `opened`, before its contents; returns whether to enter it.
    mutating func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool

    /// Leaves a directory after its contents.
    ///
    /// Implementations check for changes of the directory once nothing else in it will be read.
    mutating func leave(_ directory: WalkedDirectory) throws

    /// Returns whether to skip a directory that can't be opened, because nothing in it is needed.
    mutating func passesOver(_ item: SourceItem) throws -> Bool

    /// Whether files are visited in runs, without reading their status, if the directory lists
    /// their kind.
    static var visitsRuns: Bool { get }

    /// Visits consecutive files.
    mutating func visit(_ run: FileRun) throws
}

extension SourceVisitor {
    package mutating func leave(_ directory: WalkedDirectory) throws {
        try directory.checkIsUnchanged()
    }

    package static var visitsRuns: Bool { false }

    package mutating func visit(_ run: FileRun) throws {
        for index in run.range { try visit(run.item(at: index, run.status(at: index))) }
    }
}

// MARK: - Paths

/// The current path of a walk.
final class WalkedPath {
    fileprivate var bytes: [UInt8]

    fileprivate init(_ base: [UInt8]) { bytes = base }

    fileprivate func enter(_ name: ArraySlice<UInt8>) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
        bytes += name
    }

    fileprivate func leave(to count: Int) { bytes.removeLast(bytes.count - count) }
}

/// A path in the archive, made only on demand: making the path of every directory in a deep tree
/// would take longer than the walk.
///
/// It must be used before the walk continues.
enum SourcePath {
    case known([UInt8])
    /// In the directory where the walk is.
    case beneath(WalkedPath)

    /// The path of `name` in its directory.
    fileprivate func bytes(of name: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .known(let bytes): return bytes
        case .beneath(let walked):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count(of: name))
            bytes += walked.bytes
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            bytes += name
            return bytes
        }
    }

    fileprivate func count(of name: ArraySlice<UInt8>) -> Int {
        switch self {
        case .known(let bytes): bytes.count
        case .beneath(let walked):
            walked.bytes.isEmpty ? name.count : walked.bytes.count + 1 + name.count
        }
    }
}

// MARK: - Items

/// An item in a source tree.
package struct SourceItem {
    /// The open directory that holds it.
    package let directory: OpenFile
    package let name: ArraySlice<UInt8>
    let sourcePath: SourcePath
    package let status: FileStatus

    /// Its path in the archive.
    package var path: [UInt8] { sourcePath.bytes(of: name) }

    /// The length of the path.
    var pathCount: Int { sourcePath.count(of: name) }
}

extension SourceItem {
    /// Looks at `name` in `directory`, whose path in the archive is `path`.
    fileprivate init(
        named name: ArraySlice<UInt8>,
        at path: SourcePath,
        in directory: OpenFile
    ) throws(ArchiveError) {
        do {
            let status = try directory.descriptor.status(of: name)
            self.init(directory: directory, name: name, sourcePath: path, status: status)
        } catch {
            throw Self.failure(error, at: path.bytes(of: name))
        }
    }

    /// Opens the item; a link is not followed.
    func open(_ access: FileDescriptor.Access) throws(SystemError) -> OpenFile {
        OpenFile(try directory.descriptor.open([UInt8](name), access))
    }

    /// The error for an item at `path` that changed.
    static func changed(_ path: [UInt8]) -> ArchiveError {
        ArchiveError(.sourceChanged, "changed while it was read", entry: EntryPath(bytes: path))
    }

    /// The error for an item at `path` that the system could not read.
    static func failure(_ error: SystemError, at path: [UInt8]) -> ArchiveError {
        guard error.isMissing else { return SourceWalker.unreadable(path, error) }
        let message = "vanished during the export"
        return ArchiveError(.sourceChanged, message, entry: EntryPath(bytes: path), cause: error)
    }
}

extension EntryPath {
    /// Throws unless an archive can hold an entry of this path.
    func checkIsRepresentable() throws(ArchiveError) {
        guard let violation else { return }
        throw ArchiveError(.unrepresentable, "can't be archived: \(violation)", entry: self)
    }
}

extension ContainerSelection {
    /// The reason for omitting an item of a walk; `nil` to keep it.
    func reasonForOmitting(_ item: SourceItem) -> Omission.Reason? {
        // Only patterns need the path if it is long.
        if exclusions.isEmpty, item.pathCount > Self.longestOwnPath { return nil }
        return reasonForOmitting(item.path, isDirectory: item.status.kind == .directory)
    }
}

/// A directory that was walked, with its status before.
package struct WalkedDirectory {
    let walkedPath: WalkedPath
    package let opened: OpenFile
    package let status: FileStatus

    /// Its path in the archive; empty for the root.
    package var path: [UInt8] { walkedPath.bytes }

    /// Throws if entries were added or removed meanwhile.
    package func checkIsUnchanged() throws(ArchiveError) {
        let now = try SourceWalker.reading(path) { () throws(SystemError) in
            try opened.descriptor.status()
        }
        guard now.isUnchanged(since: status) else { throw SourceWalker.changed(path) }
    }
}
