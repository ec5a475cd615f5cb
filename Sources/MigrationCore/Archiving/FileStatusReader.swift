internal import MigrationSystem

/// Reads the status of the files in a run, on the threads of an operation if the run is long.
///
/// In a directory of thousands of small files, a walk spends most of its time on these calls.
final class FileStatusReader {
    /// The files that a thread takes at a time; a run of fewer than two such slices is not shared out.
    private static let sliceLength = 128

    private let pool: WorkerPool
    private var step: OrderedStep<FileRun, [FileStatus]>?

    /// Prepares a reader that the threads of `pool` help as soon as there is a long run.
    init(on pool: WorkerPool) { self.pool = pool }

    /// Calls `body` with each file of `run` and its status, in their order.
    ///
    /// - Throws: `ArchiveError` if a status can't be read; errors of `body`; `CancellationError`.
    func forEachStatus(
        of run: FileRun,
        _ body: (_ index: Int, FileStatus) throws -> Void
    ) throws {
        guard pool.threadCount > 1, run.range.count >= 2 * Self.sliceLength else {
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
                // After an error there are fewer: this meets it again.
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

    /// The most slices under way.
    private var depth: Int { 2 * pool.threadCount }

    private func startedStep() -> OrderedStep<FileRun, [FileStatus]> {
        if let step { return step }
        let started = OrderedStep(of: pool, depth: depth) {
            { (run: FileRun) in run.readableStatuses }
        }
        step = started
        return started
    }
}

extension FileRun {
    /// The run in parts of `length` files; the last may be shorter.
    fileprivate func slices(of length: Int) -> [FileRun] {
        stride(from: range.lowerBound, to: range.upperBound, by: length).map { start in
            let slice = start..<min(start + length, range.upperBound)
            return FileRun(directory: directory, path: path, listing: listing, range: slice)
        }
    }

    /// The status of each file up to the first whose status can't be read.
    fileprivate var readableStatuses: [FileStatus] {
        var statuses: [FileStatus] = []
        statuses.reserveCapacity(range.count)
        for index in range {
            // The owner reads it again, and meets the error.
            guard let status = try? status(at: index) else { break }
            statuses.append(status)
        }
        return statuses
    }
}
