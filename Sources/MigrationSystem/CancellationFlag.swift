internal import Synchronization

/// A request to stop that any thread can make and every thread of an operation looks at.
package final class CancellationFlag: Sendable {
    private let isRaised = Atomic(false)

    package init() {}

    /// Whether somebody asked to stop.
    package var isCancelled: Bool { isRaised.load(ordering: .relaxed) }

    /// Asks everything that holds this flag to stop.
    package func cancel() { isRaised.store(true, ordering: .relaxed) }

    /// Throws `CancellationError` once somebody asked to stop.
    package func check() throws {
        if isCancelled { throw CancellationError() }
    }
}
