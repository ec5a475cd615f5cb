internal import MigrationArchive
internal import MigrationSystem

/// The size of a source tree, from a walk that reads no content.
struct SourceMeasure {
    /// The bytes of content; a file with several names counts once.
    private(set) var contentBytes: UInt64 = 0

    /// The bytes that the content takes on disk; less than `contentBytes` if files have holes.
    private(set) var allocatedBytes: UInt64 = 0

    private var linked: Set<FileStatus.Identity> = []

    /// Measures the files beneath `root` that `selection` keeps, or all, and notes their statuses in `known`.
    ///
    /// - Throws: `ArchiveError` if something can't be read, or is too deep for an archive of the selection;
    ///   `CancellationError`.
    static func measure(
        _ root: OpenFile,
        selecting selection: ContainerSelection?,
        noting known: KnownStatuses? = nil,
        on operation: MigrationOperation
    ) throws -> SourceMeasure {
        var visitor = MeasureVisitor(selecting: selection, noting: known, on: operation)
        let walk = Result { try SourceWalker.walk(root, on: operation, visiting: &visitor) }
        // An error of a file before the place where the walk failed comes first.
        let measure = try visitor.finish()
        try walk.get()
        return measure
    }

    fileprivate mutating func count(_ status: FileStatus) {
        guard status.kind == .regular else { return }
        if status.linkCount > 1, !linked.insert(status.identity).inserted { return }
        contentBytes.addSaturating(status.size)
        allocatedBytes.addSaturating(min(status.size, status.allocatedSize))
    }
}

/// Lists directories, and lets the threads of an operation read the status of the files in large ones.
///
/// Files are counted in any order.
private struct MeasureVisitor: SourceVisitor {
    /// The files in a run that another thread may look at; handing over fewer takes longer than to look at them.
    private static let sharedFiles = 256

    /// The maximum number of runs that wait; each holds a directory open, and few may be.
    private static let waitingRuns = 16

    /// The longest path, in bytes, that is never too long for an archive.
    private static let longestPath = Int(UInt16.max)

    private let selection: ContainerSelection?
    private let measure = Monitor(SourceMeasure())
    private let step: OrderedStep<FileRun, Void>
    private let count: (FileRun) throws -> Void

    init(
        selecting selection: ContainerSelection?,
        noting known: KnownStatuses?,
        on operation: MigrationOperation
    ) {
        self.selection = selection
        count = { [measure] run in
            let keepsAll = selection?.keepsAllFiles(in: run.path) ?? true
            let kept = run.range.filter { index in
                keepsAll
                    || selection?.reasonForOmitting(run.path(at: index), isDirectory: false) == nil
            }
            let statuses = try kept.map { try run.status(at: $0) }
            measure.withLock { measure in
                for status in statuses { measure.count(status) }
                if keepsAll { known?.note(statuses, of: run) }
            }
        }
        let depth = min(operation.threadCount + 1, Self.waitingRuns)
        step = OrderedStep(of: operation, depth: depth, sink: { _ in }) { [count] in count }
    }

    static var visitsRuns: Bool { true }

    func visit(_ run: FileRun) throws {
        if run.range.count < Self.sharedFiles { try count(run) } else { try step.submit(run) }
    }

    func finish() throws -> SourceMeasure {
        try step.settle()
        return measure.withLock { $0 }
    }

    func visit(_ item: SourceItem) {
        if isKept(item) { measure.withLock { $0.count(item.status) } }
    }

    func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
        guard isKept(item) else { return false }
        // In a tree that is too deep, the archiver would write a gigabyte of paths before it fails.
        if selection != nil, item.pathCount > Self.longestPath {
            try EntryPath(bytes: item.path).checkIsRepresentable()
        }
        return true
    }

    func passesOver(_ item: SourceItem) -> Bool { !isKept(item) }

    private func isKept(_ item: SourceItem) -> Bool {
        selection?.reasonForOmitting(item) == nil
    }
}

/// The statuses of files from the walk for an estimate, so that the archiving walk doesn't need to
/// read them again.
///
/// If a file has changed since, the export fails when it is read, as for later changes.
final class KnownStatuses {
    private struct RunKey: Hashable {
        let directory: FileStatus.Identity
        let start: Int
    }

    /// The maximum number of remembered files, which bounds the memory.
    private static let limit = 8 * 1024

    private var runs: [RunKey: (directory: FileStatus, files: [FileStatus])] = [:]
    private var count = 0

    /// Remembers the files of `run`, if there is room.
    func note(_ files: [FileStatus], of run: FileRun) {
        guard count + files.count <= Self.limit else { return }
        count += files.count
        runs[Self.key(of: run)] = (run.status, files)
    }

    /// Takes the statuses of `run`; `nil` if its directory has changed since.
    func take(_ run: FileRun) -> [FileStatus]? {
        guard let known = runs.removeValue(forKey: Self.key(of: run)),
            run.status.isUnchanged(since: known.directory), known.files.count == run.range.count
        else { return nil }
        return known.files
    }

    private static func key(of run: FileRun) -> RunKey {
        RunKey(directory: run.status.identity, start: run.range.lowerBound)
    }
}
