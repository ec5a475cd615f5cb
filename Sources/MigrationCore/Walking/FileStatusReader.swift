internal import MigrationSystem

/// Reads the status of the files in a run, on the threads of an operation if the run is long.
///
/// In a directory of thousands of small files, a walk spends most of its time on these calls.
final class FileStatusReader {
    /// The files that a thread takes at a time; a run of fewer than two such slices is not shared.
    private static let sliceLength = 128

    private let operation: MigrationOperation
    private var step: OrderedStep<FileRun, [FileStatus]>?

    /// Prepares a reader that uses the threads of `operation` for long runs.
    init(on operation: MigrationOperation) { self.operation = operation }

    /// Calls `body` with each file of `run` and its status, in their order.
    ///
    /// - Throws: `ArchiveError` if a status can't be read; errors of `body`; `CancellationError`.
    func forEachStatus(
        of run: FileRun,
        known: [FileStatus]? = nil,
        _ body: (_ index: Int, FileStatus) throws -> Void
    ) throws {
        if let known {
            for (index, status) in zip(run.range, known) { try body(index, status) }
            return
        }
        guard operation.threadCount > 1, run.range.count >= 2 * Self.sliceLength else {
            return try readAlone(run.range, of: run, body)
        }
        let step = startedStep()
        do {
            var slices = run.slices(of: Self.sliceLength)[...]
            var waiting: [FileRun] = []
            while !slices.isEmpty || !waiting.isEmpty {
                while waiting.count < depth, let slice = slices.popFirst() {
                    try step.submit(slice)
                    waiting.append(slice)
                }
                let range = waiting.removeFirst().range
                let statuses = try step.next() ?? []
                step.release()
                for (index, status) in zip(range, statuses) { try body(index, status) }
                // After an error there are fewer, and this call finds the same error again.
                try readAlone(range.dropFirst(statuses.count), of: run, body)
            }
        } catch {
            step.abandon()
            self.step = nil
            throw error
        }
    }

    private func readAlone(
        _ range: Range<Int>,
        of run: FileRun,
        _ body: (Int, FileStatus) throws -> Void
    ) throws {
        for index in range { try body(index, try run.status(at: index)) }
    }

    /// The maximum number of slices under way.
    private var depth: Int { 2 * operation.threadCount }

    private func startedStep() -> OrderedStep<FileRun, [FileStatus]> {
        if let step { return step }
        let started = OrderedStep(of: operation, depth: depth) {
            { (run: FileRun) in run.readableStatuses }
        }
        step = started
        return started
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

extension FileRun {
    /// The run in parts of `length` files; the last may be shorter.
    fileprivate func slices(of length: Int) -> [FileRun] {
        stride(from: range.lowerBound, to: range.upperBound, by: length).map { start in
            let slice = start..<min(start + length, range.upperBound)
            return FileRun(
                directory: directory,
                status: status,
                path: path,
                listing: listing,
                range: slice
            )
        }
    }

    /// The status of each file up to the first whose status can't be read.
    fileprivate var readableStatuses: [FileStatus] {
        var statuses: [FileStatus] = []
        statuses.reserveCapacity(range.count)
        for index in range {
            // The caller reads it again, and reports the error.
            guard let status = try? status(at: index) else { break }
            statuses.append(status)
        }
        return statuses
    }
}
