import Foundation

/// A `Progress` that calls back, on the thread that reports, at the first report of completed bytes.
///
/// An export reports between the pieces that it reads of a file, so the callback changes the tree
/// while the file is open and half read, independent of timing.
final class Mutator: Progress, @unchecked Sendable {
    // Safe because only the export's one thread reads and writes these once it has begun.
    private var action: (() throws -> Void)?
    private var reported: Int64 = 0
    private(set) var failure: (any Error)?

    /// Makes a progress that calls `action` once.
    init(_ action: @escaping () throws -> Void) {
        self.action = action
        super.init(parent: nil, userInfo: nil)
    }

    /// Whether the action was done without an error.
    var hasRun: Bool { action == nil && failure == nil }

    override var completedUnitCount: Int64 {
        get { reported }
        set {
            reported = newValue
            guard newValue > 0, let action else { return }
            self.action = nil
            do { try action() } catch { failure = error }
        }
    }
}
