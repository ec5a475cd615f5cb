internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// Sees what an extension does during a session, and when it last did anything.
///
/// Time is that of a clock which nobody sets and which stands still while the machine sleeps.
final class SessionObserver: Sendable {
    private struct State {
        var lastActivity = SuspendingClock.now
        var longestWait = Duration.zero
        var convertedCopies: [String] = []
        var convertedCount = 0
    }

    /// A copy in the temporary directory over this many bytes is taken for a converted one.
    private static let copyLimit: UInt64 = 1 << 20

    private let state = LockedState(State())

    /// How long nothing has happened.
    var idleTime: Duration { state.withLock { SuspendingClock.now - $0.lastActivity } }

    /// The longest time that the extension let the archiver wait.
    var longestWait: Duration { state.withLock { $0.longestWait } }

    /// Takes note that something moved, or that the host begins to wait for the extension.
    func noteActivity() {
        state.withLock { $0.lastActivity = SuspendingClock.now }
    }

    /// Takes note that the extension appends something, well or ill, or is done with it.
    func noteEndOfWait() {
        state.withLock { state in
            state.longestWait = max(state.longestWait, SuspendingClock.now - state.lastActivity)
        }
    }

    /// Takes note of an item that was archived.
    func noteAppend(of bytes: UInt64, from kind: SourceRoots.Kind, _ name: ByteString) {
        state.withLock { state in
            state.lastActivity = SuspendingClock.now
            guard kind == .temporaryDirectory, bytes > Self.copyLimit else { return }
            state.convertedCount += 1
            if state.convertedCopies.count < 3 {
                state.convertedCopies.append(PrintableText.escaping(name))
            }
        }
    }

    /// The names of the first converted copies, and how many there are in all.
    var convertedCopies: (names: [String], count: Int) {
        state.withLock { ($0.convertedCopies, $0.convertedCount) }
    }
}
