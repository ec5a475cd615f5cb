internal import Foundation
internal import Glibc
internal import Synchronization

/// A request to stop that any thread can make and every thread of an operation looks at.
package final class CancellationFlag: Sendable {
    private let isRaised = Atomic(false)

    private let parent: CancellationFlag?

    /// Makes a flag that is raised by itself, or with `parent`.
    package init(following parent: CancellationFlag? = nil) {
        self.parent = parent
    }

    /// Whether somebody asked to stop.
    package var isCancelled: Bool {
        isRaised.load(ordering: .relaxed) || parent?.isCancelled ?? false
    }

    /// Asks everything that holds this flag to stop.
    package func cancel() { isRaised.store(true, ordering: .relaxed) }

    /// Throws `CancellationError` once somebody asked to stop.
    package func check() throws {
        if isCancelled { throw CancellationError() }
    }
}

// MARK: - Locks

/// State that threads share under a lock, and that nobody waits on.
///
/// Unlike the standard library's mutex, its lock is one that the thread sanitizer sees.
/// Safe because `state` is touched only between `lock` and `unlock`.
package final class LockedState<State>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    /// Reads or changes the state.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}

/// State that threads share under a lock and can wait on.
///
/// Safe because `state` is touched only between `lock` and `unlock`.
package final class Monitor<State>: @unchecked Sendable {
    private let condition = SteadyCondition()
    private var state: State

    package init(_ state: State) {
        self.state = state
    }

    /// Changes the state and wakes those who wait for a change.
    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return try body(&state)
    }

    /// Waits until `body` returns a value; it is asked at every change, and often enough to see a
    /// cancellation that changes nothing here.
    package func wait<Result>(until body: (inout State) throws -> Result?) rethrows -> Result {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while true {
            if let result = try body(&state) { return result }
            _ = condition.wait(until: .init(secondsFromNow: 0.1))
        }
    }

    /// Waits until `body` returns `true`, for `seconds` at most; returns what it returned last.
    package func wait(atMost seconds: Double, until body: (inout State) -> Bool) -> Bool {
        let end = SteadyCondition.Moment(secondsFromNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !body(&state) {
            guard condition.wait(until: end) else { return body(&state) }
        }
        return true
    }
}

/// A lock whose holders can wait for a change, by a clock that nobody sets.
///
/// Foundation's condition waits by the clock on the wall: once that is set back by an hour, a wait of
/// a tenth of a second lasts an hour.
/// Safe because the lock and the condition stay where they were made until nobody refers to them.
@safe
final class SteadyCondition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_condattr_t()
        unsafe Self.check(pthread_condattr_init(&attributes))
        unsafe Self.check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe Self.check(pthread_cond_init(condition, &attributes))
        unsafe Self.check(pthread_mutex_init(mutex, nil))
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func lock() { unsafe Self.check(pthread_mutex_lock(mutex)) }

    func unlock() { unsafe Self.check(pthread_mutex_unlock(mutex)) }

    /// Wakes all who wait.
    func broadcast() { unsafe Self.check(pthread_cond_broadcast(condition)) }

    /// Waits, without the lock, for a change or until `end`; returns `false` once `end` has come.
    func wait(until end: Moment) -> Bool {
        var time = end.time
        let code = unsafe pthread_cond_timedwait(condition, mutex, &time)
        guard code != ETIMEDOUT else { return false }
        Self.check(code)
        return true
    }

    private static func check(_ code: Int32) {
        precondition(code == 0, "a lock is used wrongly")
    }
}

extension SteadyCondition {
    /// A moment of the clock that waits are measured by.
    struct Moment {
        fileprivate var time = timespec()

        /// Makes the moment that comes `seconds` from now.
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
