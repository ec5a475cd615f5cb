internal import MigrationArchive
package import MigrationSystem

/// Runs `body` on its own thread, with a flag that is raised when the calling task is cancelled.
package func withOperationThread<Result>(
    _ body: (CancellationFlag) async throws -> Result
) async throws -> Result {
    let cancellation = CancellationFlag()
    let thread: OperationThread
    do {
        thread = try OperationThread()
    } catch {
        throw MigrationError(.outputFailed, "no thread can be started", cause: error)
    }
    defer { thread.close() }
    return try await withTaskCancellationHandler {
        try await withTaskExecutorPreference(thread) {
            try await body(cancellation)
        }
    } onCancel: {
        cancellation.cancel()
    }
}

/// A thread on which an operation may block without holding up other tasks.
final class OperationThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isClosed = false
    }

    private let monitor = Monitor(State())

    /// Starts the thread.
    ///
    /// - Throws: ``SystemError`` if the system can't start a thread.
    init() throws(SystemError) {
        try SystemThread.start(named: "migration") { [self] in work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.jobs.append(job) }
    }

    /// Ends the thread after its last job.
    func close() {
        monitor.withLock { $0.isClosed = true }
    }

    private func work() {
        while let job = nextJob() {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func nextJob() -> UnownedJob? {
        monitor.wait { state in
            if !state.jobs.isEmpty { return state.jobs.removeFirst() }
            return state.isClosed ? .some(nil) : nil
        }
    }
}

extension WorkerPool {
    /// Makes a pool of the number of threads that was asked for, else one for each processor that this process
    /// may use.
    package convenience init(requesting threadCount: Int?, _ cancellation: CancellationFlag) {
        self.init(
            threadCount: ArchiveThreads.count(requested: threadCount),
            cancellation: cancellation
        )
    }
}

/// How many threads an operation may be asked to use.
enum ThreadCount {
    /// Checks that a requested number of threads is allowed.
    static func check(_ requested: Int?) throws(MigrationError) {
        guard let requested, !(1...ArchiveThreads.limit).contains(requested) else { return }
        throw MigrationError(.invalidOption, "the number of threads must be from 1 to 64")
    }
}
