internal import MigrationArchive
internal import MigrationSystem

/// What an app group held at one time, to tell whether an import cleared it before it wrote to it.
struct GroupSnapshot: SourceVisitor {
    private let limit: Int
    private var files: [FileStatus.Identity: FileTime] = [:]

    /// Whether there are more files than `limit`, so that others may be the first ones next time.
    private var isCut = false

    /// Looks at the directory of a group.
    init(
        of group: PathName,
        limit: Int = 100_000,
        _ cancellation: CancellationFlag
    ) throws {
        self.limit = limit
        let root = try FileDescriptor.open(group.path, .directory)
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
    }

    mutating func visit(_ item: SourceItem) {
        isCut = isCut || files.count == limit
        guard !isCut else { return }
        files[item.status.identity] = item.status.changeTime
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    func passesOver(_ item: SourceItem) -> Bool { true }

    /// Whether, since `earlier`, something was written while something older stayed.
    ///
    /// Of a group that holds too many files it is not said.
    func wasWrittenNotCleared(since earlier: GroupSnapshot) -> Bool {
        guard !isCut, !earlier.isCut else { return false }
        let wasWritten = files.contains { earlier.files[$0.key] != $0.value }
        let hasStayed = earlier.files.contains { files[$0.key] == $0.value }
        return wasWritten && hasStayed
    }
}
