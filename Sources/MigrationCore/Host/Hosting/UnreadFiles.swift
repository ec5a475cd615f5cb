internal import MigrationArchive
internal import MigrationSystem

/// Files whose access time is still the modification time, as it was when they were extracted.
struct UnreadFiles: SourceVisitor {
    /// The first paths, as they may be shown.
    private(set) var paths: [String] = []

    /// How many files there are.
    private(set) var count = 0

    /// Looks through the import directory that is open as `directory` and was at `path`.
    ///
    /// It is `nil` where nobody can tell what was left: the file system does not say what was read,
    /// or the extension removed the directory, or moved it to where the app wants what is in it.
    init?(in directory: OpenFile, at path: ByteString, _ cancellation: CancellationFlag) throws {
        guard try Self.isStill(directory, at: path), try directory.descriptor.recordsAccess() else {
            return nil
        }
        let root = try directory.descriptor.duplicate()
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
    }

    private static func isStill(
        _ directory: OpenFile,
        at path: ByteString
    ) throws(SystemError) -> Bool {
        let identity = try directory.descriptor.status().identity
        do {
            return try FileDescriptor.status(atPath: path).identity == identity
        } catch {
            guard error.isMissing || error.isNotDirectory else { throw error }
            return false
        }
    }

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
