internal import MigrationArchive
internal import MigrationSystem

/// Files whose access time is still the modification time, as it was when they were extracted.
struct UnreadFiles: SourceVisitor {
    /// The first paths, as they may be shown.
    private(set) var paths: [String] = []

    /// How many files there are.
    private(set) var count = 0

    /// Looks through an import directory; `nil` where the file system does not tell what was read.
    init?(in directory: OpenFile, _ cancellation: CancellationFlag) throws {
        guard try directory.descriptor.recordsAccess() else { return nil }
        let root = try directory.descriptor.duplicate()
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
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
