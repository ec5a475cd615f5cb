internal import Foundation

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
