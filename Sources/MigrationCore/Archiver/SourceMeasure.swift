internal import MigrationArchive
internal import MigrationSystem

/// How much a source tree holds, from a walk that reads no content.
struct SourceMeasure: SourceVisitor {
    /// The bytes of content, each file counted once however many names it has.
    private(set) var contentBytes: UInt64 = 0

    /// The bytes that the content takes on its disk, less than `contentBytes` where files have holes.
    private(set) var allocatedBytes: UInt64 = 0

    private let selection: ContainerSelection?
    private var linked: Set<FileStatus.Identity> = []

    /// Measures what `selection` keeps, or everything.
    init(selecting selection: ContainerSelection?) {
        self.selection = selection
    }

    mutating func visit(_ item: SourceItem) {
        guard item.status.kind == .regular, isKept(item) else { return }
        if item.status.linkCount > 1, !linked.insert(item.status.identity).inserted { return }
        contentBytes += item.status.size
        allocatedBytes += min(item.status.size, item.status.allocatedSize)
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { isKept(item) }

    func passesOver(_ item: SourceItem) -> Bool { !isKept(item) }

    private func isKept(_ item: SourceItem) -> Bool {
        let isDirectory = item.status.kind == .directory
        return selection?.reasonForLeavingOut(item.path, isDirectory: isDirectory) == nil
    }
}
