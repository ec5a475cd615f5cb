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
