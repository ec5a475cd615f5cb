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
