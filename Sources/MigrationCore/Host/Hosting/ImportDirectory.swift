internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The directory in which an app's extension finds what an archive holds.
///
/// It lies in the bookkeeping of the staged container, so that moving a file from it to the container is
/// a mere renaming. It is gone before the container is committed.
struct ImportDirectory {
    private static let name = ByteString(utf8: "import")

    /// The directories that a fresh container has.
    private static let skeleton = [
        "Documents", "Library", "Library/Application Support", "Library/Caches",
        "Library/Preferences", "tmp",
    ]

    private let staging: StagingDirectory

    /// The open directory.
    let directory: OpenFile

    /// Makes a fresh container in `staging`, with an empty import directory.
    init(in staging: StagingDirectory) throws(SystemError) {
        self.staging = staging
        let root = staging.directory
        for path in Self.skeleton {
            try root.descriptor.makeDirectory(ByteString(utf8: path), permissions: 0o755)
        }
        let bookkeeping = try BookkeepingDirectory.make(in: root).openDirectory
        try bookkeeping.descriptor.makeDirectory(Self.name, permissions: 0o700)
        directory = OpenFile(try bookkeeping.descriptor.open(Self.name, .directory))
    }

    /// The absolute path.
    var path: ByteString {
        let slash = [UInt8(ascii: "/")]
        return staging.path.path + slash + ContainerLayout.bookkeepingName + slash + Self.name
    }

    /// Removes it, with the bookkeeping that it lies in.
    func remove() throws(SystemError) {
        try staging.directory.descriptor.removeTree(ContainerLayout.bookkeepingName)
    }

    /// The paths of the first files that nobody read, and how many there are; `nil` where the file
    /// system does not tell.
    func unreadFiles(_ cancellation: CancellationFlag) throws -> UnreadFiles? {
        guard try directory.descriptor.recordsAccess() else { return nil }
        var unread = UnreadFiles()
        let root = try directory.descriptor.duplicate()
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&unread)
        return unread
    }
}

/// Files whose access time is still the modification time, as it was when they were extracted.
struct UnreadFiles: SourceVisitor {
    /// The first paths, as they may be shown.
    private(set) var paths: [String] = []

    /// How many files there are.
    private(set) var count = 0

    mutating func visit(_ item: SourceItem) {
        let status = item.status
        guard status.kind == .regular, status.linkCount == 1, status.size > 0,
            status.accessTime == status.modificationTime
        else { return }
        count += 1
        if paths.count < 3 { paths.append(PrintableText.escaping(item.path)) }
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    func passesOver(_ item: SourceItem) -> Bool { true }
}
