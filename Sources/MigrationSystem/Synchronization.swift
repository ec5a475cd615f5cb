internal import Glibc

// MARK: - Locks

/// State that threads share under a lock and can wait on.
///
/// Foundation's condition uses the wall clock: if that is set back by an hour, a wait of a tenth of
/// a second lasts an hour. The thread sanitizer doesn't see the standard library's mutex. Safe
/// because `state` and `waiterCount` are touched only between `lock` and `unlock`.
package final class Monitor<State>: @unchecked Sendable {
    private let lock = SystemLock()
    private let change = SystemCondition()
    private var state: State
    private var waiterCount = 0

    package init(_ state: State) {
        self.state = state
    }

    /// Reads or changes the state, and wakes the threads that wait for a change.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { unlock() }
        return try body(&state)
    }

    /// Waits until `body` returns a value; calls it once at first and again after each change.
    package func wait<Result>(until body: (inout State) throws -> Result?) rethrows -> Result {
        lock.lock()
        defer { unlock() }
        while true {
            if let result = try body(&state) { return result }
            waiterCount += 1
            change.wait(lock)
            waiterCount -= 1
        }
    }

    /// Waits until `body` returns `true`, for `seconds` at most; returns its last result.
    package func wait(atMost seconds: Double, until body: (inout State) -> Bool) -> Bool {
        let end = SystemCondition.Moment(secondsFromNow: seconds)
        lock.lock()
        defer { unlock() }
        while !body(&state) {
            waiterCount += 1
            let isInTime = change.wait(lock, until: end)
            waiterCount -= 1
            if !isInTime { return body(&state) }
        }
        return true
    }

    /// Wakes the waiting threads without changing the state.
    package func wake() { withLock { _ in } }

    private func unlock() {
        if waiterCount > 0 { change.broadcast() }
        lock.unlock()
    }
}

/// The system's lock, which ``Monitor`` and ``MigrationOperation`` use.
///
/// Safe because the lock's address doesn't change while it is in use.
@safe
final class SystemLock: @unchecked Sendable {
    fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { unsafe check(pthread_mutex_init(mutex, nil)) }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func lock() { unsafe check(pthread_mutex_lock(mutex)) }

    func unlock() { unsafe check(pthread_mutex_unlock(mutex)) }
}

/// A condition for threads that hold a lock, with time limits on the monotonic clock.
///
/// Safe because the condition's address doesn't change while it is in use.
@safe
final class SystemCondition: @unchecked Sendable {
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_condattr_t()
        unsafe check(pthread_condattr_init(&attributes))
        unsafe check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe check(pthread_cond_init(condition, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Wakes one thread that waits.
    func signal() { unsafe check(pthread_cond_signal(condition)) }

    /// Wakes all threads that wait.
    func broadcast() { unsafe check(pthread_cond_broadcast(condition)) }

    /// Unlocks, waits for a wake-up, and locks again.
    func wait(_ lock: SystemLock) { unsafe check(pthread_cond_wait(condition, lock.mutex)) }

    /// Waits for a wake-up or until `end`; returns `false` if `end` has passed.
    func wait(_ lock: SystemLock, until end: Moment) -> Bool {
        var time = end.time
        let code = unsafe pthread_cond_timedwait(condition, lock.mutex, &time)
        if code != ETIMEDOUT { check(code) }
        return code != ETIMEDOUT
    }

    /// A time of the clock that waiting threads use.
    struct Moment {
        fileprivate var time = timespec()

        /// Makes the moment `seconds` from now.
        init(secondsFromNow seconds: Double) {
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            let whole = seconds.rounded(.down)
            time.tv_sec += Int(whole)
            time.tv_nsec += Int((seconds - whole) * 1e9)
            time.tv_sec += time.tv_nsec / 1_000_000_000
            time.tv_nsec %= 1_000_000_000
        }
    }
}

private func check(_ code: Int32) {
    precondition(code == 0, "a lock is used wrongly")
}
