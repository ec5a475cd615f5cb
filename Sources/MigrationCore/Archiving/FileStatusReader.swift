internal import MigrationSystem

/// Reads the status of the files in a run, on several threads if the run is long.
///
/// In a directory of thousands of small files, a walk spends most of its time on these calls.
///
/// One thread owns a reader. It reads files itself where no other thread has begun to, so there may be no other
/// thread at all.
final class FileStatusReader {
    /// The files that a thread takes at a time; a run of fewer than two such slices is not shared out.
    private static let sliceLength = 128

    private let threadCount: Int
    private let cancellation: CancellationFlag
    private var pipeline: OrderedPipeline<FileRun, [FileStatus]>?

    /// Prepares a reader that `threadCount` threads help as soon as there is a long run.
    init(threadCount: Int, cancellation: CancellationFlag) {
        self.threadCount = threadCount
        self.cancellation = cancellation
    }

    /// Calls `body` with each file of `run` and its status, in their order.
    ///
    /// - Throws: `ArchiveError` if a status can't be read; errors of `body`; `CancellationError`.
    func forEachStatus(
        of run: FileRun,
        _ body: (_ index: Int, FileStatus) throws -> Void
    ) throws {
        guard threadCount > 0, run.range.count >= 2 * Self.sliceLength else {
            return try readAlone(run.range, of: run, body)
        }
        let pipeline = try startedPipeline()
        do {
            var slices = run.slices(of: Self.sliceLength)[...]
            var waiting: [FileRun] = []
            while !slices.isEmpty || !waiting.isEmpty {
                while waiting.count < depth, let slice = slices.popFirst() {
                    try pipeline.submit(slice)
                    waiting.append(slice)
                }
                let range = waiting.removeFirst().range
                let statuses = try pipeline.next() ?? []
                pipeline.release()
                for (index, status) in zip(range, statuses) { try body(index, status) }
                // After an error there are fewer: this meets it again.
                try readAlone(range.dropFirst(statuses.count), of: run, body)
            }
        } catch {
            pipeline.abandon()
            self.pipeline = nil
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
    private var depth: Int { 2 * threadCount + 2 }

    private func startedPipeline() throws -> OrderedPipeline<FileRun, [FileStatus]> {
        if let pipeline { return pipeline }
        let started = try OrderedPipeline(
            named: "migration-stat",
            upTo: threadCount,
            depth: depth,
            cancellation: cancellation
        ) { { (run: FileRun) in run.readableStatuses } }
        pipeline = started
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
