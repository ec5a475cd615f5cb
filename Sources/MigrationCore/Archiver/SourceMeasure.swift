internal import MigrationArchive
internal import MigrationSystem

/// How much a source tree holds, from a walk that reads no content.
struct SourceMeasure: SourceVisitor {
    /// The bytes of content, each file counted once however many names it has.
    private(set) var contentBytes: UInt64 = 0

    /// The bytes that the content takes on its disk, less than `contentBytes` where files have holes.
    private(set) var allocatedBytes: UInt64 = 0

    /// The bytes up to which no path is too long for an archive.
    private static let longestPath = Int(UInt16.max)

    private let selection: ContainerSelection?
    private var linked: Set<FileStatus.Identity> = []

    /// Measures what `selection` keeps, or everything.
    init(selecting selection: ContainerSelection?) {
        self.selection = selection
    }

    static var takesRuns: Bool { true }

    mutating func visit(_ run: FileRun) throws {
        let keepsAll = selection?.keepsAllFiles(in: run.path) ?? true
        for index in run.range {
            if !keepsAll, isLeftOut(run.path(at: index)) { continue }
            count(try run.status(at: index))
        }
    }

    mutating func visit(_ item: SourceItem) {
        if isKept(item) { count(item.status) }
    }

    private mutating func count(_ status: FileStatus) {
        guard status.kind == .regular else { return }
        if status.linkCount > 1, !linked.insert(status.identity).inserted { return }
        contentBytes.addSaturating(status.size)
        allocatedBytes.addSaturating(min(status.size, status.allocatedSize))
    }

    private func isLeftOut(_ path: ByteString) -> Bool {
        selection?.reasonForLeavingOut(path, isDirectory: false) != nil
    }

    func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
        guard isKept(item) else { return false }
        // Of a tree that is too deep the archiver would write a gigabyte of paths before it fails.
        if selection != nil, item.path.count > Self.longestPath {
            try EntryArchiver.checkIsRepresentable(EntryPath(bytes: item.path))
        }
        return true
    }

    func passesOver(_ item: SourceItem) -> Bool { !isKept(item) }

    private func isKept(_ item: SourceItem) -> Bool {
        let isDirectory = item.status.kind == .directory
        return selection?.reasonForLeavingOut(item.path, isDirectory: isDirectory) == nil
    }
}
