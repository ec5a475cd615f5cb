internal import MigrationSystem

/// Reads the files of batches on several threads, ahead of the one that archives them in order.
///
/// The archiving thread reads a batch itself where no other has begun to, so it never waits for
/// work that nobody does, and there may be no other thread at all.
///
/// Safe because `workers` is used by the archiving thread alone.
final class FileReadAhead: @unchecked Sendable {
    /// What the threads share; apart, so that they don't keep the rest alive.
    private struct State {
        var waiting: [ItemBatch] = []
        var reading: [ItemBatch] = []
        var isClosed = false
    }

    private let threadCount: Int
    private let cancellation: CancellationFlag
    private let monitor = Monitor(State())
    private var workers: WorkerThreads?

    /// Prepares `threadCount` threads, which start when there is something to read ahead.
    init(threadCount: Int, cancellation: CancellationFlag) {
        self.threadCount = threadCount
        self.cancellation = cancellation
    }

    deinit {
        monitor.withLock { $0.isClosed = true }
        workers?.join()
    }

    /// Has `batch` read by whoever comes to it first.
    func submit(_ batch: ItemBatch) {
        startWorkers()
        monitor.withLock { $0.waiting.append(batch) }
    }

    /// Returns once `batch` is read, by this thread where no other has begun to.
    func finishReading(_ batch: ItemBatch) {
        let isTaken = monitor.wait { state -> Bool? in
            if let place = state.waiting.firstIndex(where: { $0 === batch }) {
                state.waiting.remove(at: place)
                return false
            }
            return state.reading.contains { $0 === batch } ? nil : true
        }
        if !isTaken { batch.read(cancellation) }
    }

    private func startWorkers() {
        guard workers == nil, threadCount > 0 else { return }
        // Where the system gives no more threads, whoever needs a batch reads it.
        workers = try? WorkerThreads(count: threadCount, named: "migration-read") {
            [monitor, cancellation] in
            while let batch = Self.takeWaiting(from: monitor) {
                batch.read(cancellation)
                monitor.withLock { $0.reading.removeAll { $0 === batch } }
            }
        }
    }

    private static func takeWaiting(from monitor: Monitor<State>) -> ItemBatch? {
        monitor.wait { state in
            if state.isClosed { return .some(nil) }
            guard !state.waiting.isEmpty else { return nil }
            let batch = state.waiting.removeFirst()
            state.reading.append(batch)
            return batch
        }
    }
}
