internal import MigrationSystem

/// A thread on which an operation may block without keeping other tasks from running.
final class OperationThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isClosed = false
    }

    private let monitor = Monitor(State())

    /// Starts the thread.
    ///
    /// - Throws: ``SystemError`` where the system gives none.
    init() throws(SystemError) {
        try SystemThread.start(named: "migration") { [self] in work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.jobs.append(job) }
    }

    /// Lets the thread end once it has nothing left to do.
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
