package import Foundation
package import MigrationSystem

/// Runs an operation on its own thread; it is cancelled with the calling task.
///
/// - Parameters:
///   - threadCount: The number of threads that work on it; `nil` for one per processor.
///   - progress: Shows how much is done, until the operation ends.
///   - body: The work.
/// - Returns: The result of `body`.
/// - Throws: ``MigrationError`` of code `invalidOption` if the number of threads is not allowed,
///   and of code `outputFailed` if the system can't start one; errors of `body`.
package func withOperation<Result>(
    threadCount: Int? = nil,
    progress: Progress? = nil,
    _ body: (MigrationOperation) async throws -> Result
) async throws -> Result {
    defer { progress?.endUpdates() }
    if let threadCount, !(1...MigrationOperation.threadLimit).contains(threadCount) {
        throw MigrationError(.invalidOption, "the number of threads must be from 1 to 64")
    }
    let cancellation = CancellationFlag()
    let thread = try OperationThread.start()
    defer { thread.close() }
    return try await withTaskCancellationHandler {
        try await withTaskExecutorPreference(thread) {
            try await body(
                MigrationOperation(requesting: threadCount, cancellation, progress: progress)
            )
        }
    } onCancel: {
        cancellation.cancel()
    }
}

/// Runs `body` on the calling thread until it returns, without a thread of Dispatch.
///
/// If the system can't start a thread, Dispatch waits forever.
///
/// - Parameters:
///   - body: What to run.
///   - started: Receives its task, which can be cancelled.
/// - Returns: The result of `body`.
package func withCallingThread<Result: Sendable>(
    _ body: @escaping @Sendable () async -> Result,
    started: (Task<Void, Never>) -> Void
) -> Result {
    let thread = OperationThread()
    let result = Monitor<Result?>(nil)
    let task = Task(executorPreference: thread) {
        let value = await body()
        result.withLock { $0 = value }
        thread.close()
    }
    started(task)
    thread.work()
    return result.wait { $0 }
}

/// A thread on which an operation may block without holding up other tasks.
package final class OperationThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isClosed = false
    }

    private let monitor = Monitor(State())

    /// Makes the executor, whose jobs wait for a thread that does the work.
    fileprivate init() {}

    /// Starts the thread.
    ///
    /// - Throws: ``MigrationError`` of code `outputFailed` if the system can't start a thread.
    package static func start() throws(MigrationError) -> OperationThread {
        let thread = OperationThread()
        do {
            try SystemThread.start(named: "migration") { thread.work() }
        } catch {
            throw MigrationError(.outputFailed, "no thread can be started", cause: error)
        }
        return thread
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.jobs.append(job) }
    }

    /// Ends the thread after its last job.
    package func close() {
        monitor.withLock { $0.isClosed = true }
    }

    fileprivate func work() {
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
