internal import MigrationArchive
internal import MigrationSystem

/// What an app group held at one time, to tell whether an import cleared it before it wrote to it.
struct GroupSnapshot: SourceVisitor {
    private static let limit = 100_000

    private var files: [FileStatus.Identity: FileTime] = [:]

    /// Looks at the directory of a group.
    init(of group: PathName, _ cancellation: CancellationFlag) throws {
        let root = try FileDescriptor.open(group.path, .directory)
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
    }

    mutating func visit(_ item: SourceItem) {
        guard files.count < Self.limit else { return }
        files[item.status.identity] = item.status.changeTime
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    func passesOver(_ item: SourceItem) -> Bool { true }

    /// Whether, since `earlier`, something was written while something older stayed.
    func wasWrittenNotCleared(since earlier: GroupSnapshot) -> Bool {
        let wasWritten = files.contains { earlier.files[$0.key] != $0.value }
        let hasStayed = earlier.files.contains { files[$0.key] == $0.value }
        return wasWritten && hasStayed
    }
}
