internal import Glibc

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
