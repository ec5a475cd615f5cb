internal import MigrationSystem

/// Makes files on several threads, in batches.
///
/// Batches are begun in the order in which they come, so that of several failures the first one in
/// the archive's order is known: nothing that comes before it is left to be done.
final class FileWriters {
    private let stage: Stage
    private let mode: NewFileMode
    private let cancellation: CancellationFlag
    private let workers: WorkerThreads
    private var batch = FileBatch()

    init(threadCount: Int, mode: NewFileMode, cancellation: CancellationFlag) throws(SystemError) {
        let stage = Stage(depth: threadCount, mode: mode, cancellation: cancellation)
        self.stage = stage
        self.mode = mode
        self.cancellation = cancellation
        workers = try WorkerThreads(count: threadCount, named: "migration-write") { stage.work() }
    }

    /// Makes `file` soon; what goes wrong is thrown by a later call.
    func append(_ file: RestoredFile, holding content: ContentSlice) throws {
        if batch.isComplete(before: content) {
            try stage.submit(batch)
            batch = FileBatch()
        }
        batch.append(file, holding: content)
    }

    /// Waits until every file is made that was handed over.
    func settle() throws {
        try stage.waitUntilIdle()
        let rest = batch
        batch = FileBatch()
        try rest.make(mode, cancellation)
    }

    /// Ends the threads; what was not begun is not done.
    func close() {
        stage.stop()
        workers.join()
    }
}

/// The batches that wait, between the thread that reads the archive and those that make files.
private final class Stage: Sendable {
    private struct State {
        var waiting: [(number: Int, batch: FileBatch)] = []
        var submitted = 0
        var underWay = 0
        var isStopped = false
        var failure: (number: Int, error: any Error)?
    }

    private let depth: Int
    private let mode: NewFileMode
    private let cancellation: CancellationFlag
    private let monitor = Monitor(State())

    init(depth: Int, mode: NewFileMode, cancellation: CancellationFlag) {
        self.depth = depth
        self.mode = mode
        self.cancellation = cancellation
    }
}

// MARK: - The reader's side

extension Stage {
    /// Hands over a batch; waits while too many wait.
    func submit(_ batch: FileBatch) throws {
        try monitor.wait { state -> Void? in
            guard try isSound(state), state.waiting.count < depth else { return nil }
            state.waiting.append((state.submitted, batch))
            state.submitted += 1
            return ()
        }
    }

    func waitUntilIdle() throws {
        try monitor.wait { state -> Void? in
            guard try isSound(state) else { return nil }
            return state.waiting.isEmpty && state.underWay == 0 ? () : nil
        }
    }

    /// Throws the first failure once no earlier one can follow; returns `false` until then.
    private func isSound(_ state: State) throws -> Bool {
        try cancellation.check()
        guard let failure = state.failure else { return true }
        guard state.underWay == 0 else { return false }
        throw failure.error
    }

    func stop() {
        monitor.withLock { $0.isStopped = true }
    }
}

// MARK: - The workers' side

extension Stage {
    func work() {
        while let (number, batch) = claim() {
            let result = Result { try batch.make(mode, cancellation) }
            monitor.withLock { state in
                state.underWay -= 1
                guard case .failure(let error) = result else { return }
                if number < state.failure?.number ?? .max { state.failure = (number, error) }
            }
        }
    }

    /// Waits for the next batch; `nil` when there is none left to begin.
    private func claim() -> (number: Int, batch: FileBatch)? {
        monitor.wait { state in
            if state.isStopped || state.failure != nil { return .some(nil) }
            guard !state.waiting.isEmpty else { return nil }
            state.underWay += 1
            return state.waiting.removeFirst()
        }
    }
}
