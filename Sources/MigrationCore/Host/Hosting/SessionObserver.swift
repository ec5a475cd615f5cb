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
        var convertedCopies = Examples()
        var encodedNames = Examples()
        var misnamed = Examples()
    }

    /// The first of several things, as they may be shown, and how many there are in all.
    struct Examples {
        private(set) var first: [String] = []
        private(set) var count = 0

        fileprivate mutating func add(_ text: @autoclosure () -> String) {
            count += 1
            if first.count < 3 { first.append(text()) }
        }

        /// The first, with a mark where there are others.
        var text: String { first.joined(separator: ", ") + (count > first.count ? ", …" : "") }
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
            state.convertedCopies.add(PrintableText.escaping(name))
        }
    }

    /// The names of converted copies.
    var convertedCopies: Examples { state.withLock { $0.convertedCopies } }

    /// Takes note of an item whose name in the archive is percent-encoded.
    func noteEncodedName(_ name: ByteString) {
        state.withLock { $0.encodedNames.add(PrintableText.escaping(name)) }
    }

    /// The names in the archive that are percent-encoded.
    var encodedNames: Examples { state.withLock { $0.encodedNames } }

    /// Takes note of an item that is not there, and what was said of that to the extension.
    func noteMisnamed(_ path: ByteString, _ advice: String) {
        state.withLock { $0.misnamed.add("\(PrintableText.escaping(path)) \(advice)") }
    }

    /// What was named that is not there, and where it is.
    var misnamed: Examples { state.withLock { $0.misnamed } }
}
