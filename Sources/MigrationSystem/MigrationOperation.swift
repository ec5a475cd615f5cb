package import Foundation
internal import Glibc

/// One export, import or other operation while it runs: its threads, its cancellation, its progress.
///
/// The ``OrderedStep``s of an operation share its threads. A free thread takes the job nearest to
/// the output, and a thread that waits for a step works meanwhile. So an operation has no more
/// threads than can work at the same time, and with one thread only its own. Threads start when
/// there is work for them; if the system can't start one, the others do the work.
package final class MigrationOperation: Sendable {
    /// The threads that may work at once.
    package let threadCount: Int

    /// The flag that ends all work and all waiting.
    package let cancellation: CancellationFlag

    /// Shows how much is done; `nil` if progress isn't shown.
    package let progress: Progress?

    let crew: Crew
    private let observation: CancellationFlag.Observation

    /// Makes an operation on the caller's thread, which may start `threadCount` - 1 others.
    package init(
        threadCount: Int = 1,
        cancellation: CancellationFlag = CancellationFlag(),
        progress: Progress? = nil
    ) {
        precondition(threadCount > 0)
        let crew = Crew(limit: threadCount - 1)
        (self.threadCount, self.cancellation, self.crew) = (threadCount, cancellation, crew)
        self.progress = progress
        observation = cancellation.observe { crew.wakeCallers() }
    }

    deinit { crew.dismiss() }

    /// The same operation for work on the caller's thread only.
    package var alone: MigrationOperation {
        MigrationOperation(cancellation: cancellation, progress: progress)
    }

    /// Whether it should stop.
    package var isCancelled: Bool { cancellation.isCancelled }

    /// Throws `CancellationError` if it should stop.
    package func check() throws { try cancellation.check() }
}

/// A step as the threads of an operation see it; each member is used under the crew's lock.
protocol PooledStep: AnyObject {
    /// Does one job without the lock; returns `false` if there is none.
    func workOnce() -> Bool

    /// Wakes the thread that waits for the step, if it need not wait any longer.
    func wakeCaller()
}

/// The threads of an operation, and what they share with its steps.
///
/// There is no deadlock. A job may wait for a step that is nearer to one end of the operation than
/// its own. It then works only for that step, so it never starts a job that waits for it.
///
/// Safe because everything that changes is touched under `lock`.
final class Crew: @unchecked Sendable {
    private let lock = SystemLock()
    private let dismissal = SystemCondition()
    /// The steps, those nearest to the output first.
    private var steps: [any PooledStep] = []
    private var sinkCount = 0
    private var limit: Int
    private var workerCount = 0
    private var isDismissed = false
    private var idleWorkers: [Sleeper] = []
    private var idleCallers: [Sleeper] = []
    /// The threads that are doing a job.
    private var busy: [pthread_t] = []

    init(limit: Int) { self.limit = limit }

    func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Whether this thread is doing a job; the lock is held here and in everything below.
    var isBusy: Bool { busy.contains(pthread_self()) }

    /// Runs `job` without the lock.
    func perform(_ job: () -> Void) {
        let thread = pthread_self()
        let isOutermost = !isBusy
        if isOutermost { busy.append(thread) }
        lock.unlock()
        job()
        lock.lock()
        if isOutermost { busy.removeAll { $0 == thread } }
    }

    /// Does the job that is nearest to the output; returns `false` if there is none.
    func workOnce() -> Bool {
        let steps = steps
        return steps.contains { $0.workOnce() }
    }

    /// Finds a thread for a job that was added; returns `false` if all are busy.
    @discardableResult
    func offerJob() -> Bool {
        if let worker = idleWorkers.popLast() {
            worker.wake()
        } else if workerCount < limit {
            return startWorker()
        } else if let caller = idleCallers.popLast() {
            caller.wake()
        } else {
            return false
        }
        return true
    }

    /// Waits until another thread wakes `sleeper`; if `takingJobs`, for a job too.
    func wait(_ sleeper: Sleeper, takingJobs: Bool) {
        if takingJobs { idleCallers.append(sleeper) }
        sleeper.wait(lock)
        if takingJobs { idleCallers.removeAll { $0 === sleeper } }
    }

    private func startWorker() -> Bool {
        do throws(SystemError) {
            try SystemThread.start(named: "migration-work") { self.work() }
            workerCount += 1
            return true
        } catch {
            // The system can't start more threads, and isn't asked again.
            limit = workerCount
            return false
        }
    }

    private func work() {
        let sleeper = Sleeper()
        lock.lock()
        while !isDismissed {
            if workOnce() { continue }
            idleWorkers.append(sleeper)
            sleeper.wait(lock)
        }
        workerCount -= 1
        dismissal.signal()
        lock.unlock()
    }
}

// MARK: - Without the lock

extension Crew {
    /// Adds a step.
    ///
    /// A step that passes on its results itself is nearer to the output than one that doesn't; of
    /// several such steps, the first one is.
    func add(_ step: any PooledStep, passesOn: Bool) {
        locked {
            steps.insert(step, at: passesOn ? sinkCount : steps.count)
            if passesOn { sinkCount += 1 }
        }
    }

    func remove(_ step: any PooledStep) {
        locked {
            guard let index = steps.firstIndex(where: { $0 === step }) else { return }
            steps.remove(at: index)
            if index < sinkCount { sinkCount -= 1 }
        }
    }

    /// Wakes all threads that need not wait any longer.
    func wakeCallers() {
        locked { steps.forEach { $0.wakeCaller() } }
    }

    /// Ends the threads once they have done their jobs.
    func dismiss() {
        locked {
            isDismissed = true
            idleWorkers.forEach { $0.wake() }
            // One of them may release the operation.
            if isBusy { return }
            while workerCount > 0 { dismissal.wait(lock) }
        }
    }
}

/// A thread that waits until another wakes it.
///
/// Safe because it is touched under the crew's lock.
final class Sleeper: @unchecked Sendable {
    private let condition = SystemCondition()
    private var isAwake = true

    func wake() {
        if isAwake { return }
        isAwake = true
        condition.signal()
    }

    fileprivate func wait(_ lock: SystemLock) {
        isAwake = false
        while !isAwake { condition.wait(lock) }
    }
}
