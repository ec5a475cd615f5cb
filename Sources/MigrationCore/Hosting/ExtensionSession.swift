internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// A session with an extension, wherever it runs.
///
/// Its calls block until the extension is done. They end with a ``MigrationError`` where it hangs, ends
/// before its time or goes on after it was cancelled, and with `CancellationError` where it obeyed.
protocol ExtensionSession {
    /// How the extension is confined.
    var confinement: ConfinementReport { get }

    /// The paths by which the extension knows its directories.
    var paths: SessionPaths { get }

    /// Asks the extension what it can do.
    func description() throws -> ExtensionDescription

    /// Has the extension export into `intake`.
    func export(_ call: ExportCall, to intake: ItemIntake) throws

    /// Has the extension import what is in a directory.
    func importResources(
        _ call: ImportCall,
        onProgress: @escaping @Sendable (_ completed: Int64, _ total: Int64) -> Void
    ) throws -> ImportProgressSummary

    /// Ends an extension that took more of the machine than it may, while its host is at work.
    func checkBounds()

    /// Ends the extension and everything that it started, before anything is made of its work.
    ///
    /// - Throws: ``MigrationError`` of code `sessionFailed` where some of that may go on.
    func end() throws
}

extension ExtensionSession {
    func checkBounds() {}

    /// Ends what an error has left of the session; one that was ended stays so.
    func abandon() {
        do {
            try end()
        } catch {
            // The error that led here says more.
        }
    }
}

extension MigrationExtension {
    /// Begins a session in `directories`, watched by `observer`.
    func beginSession(
        in directories: SessionDirectories,
        observer: SessionObserver,
        cancellation: CancellationFlag
    ) throws -> any ExtensionSession {
        let limits = SessionLimits(
            hangTimeout: hangTimeout,
            gracePeriod: gracePeriod,
            cancellation: cancellation
        )
        switch kind {
        case .value(let hosted):
            return try InProcessSession(hosted, in: directories, observer: observer, limits: limits)
        case .executable(let url):
            return try ProcessSession(
                executable: ByteString(pathOf: url),
                terms: self,
                in: directories,
                observer: observer,
                limits: limits
            )
        }
    }
}

// MARK: - Limits

/// How long an extension may take, and whether it must stop.
struct SessionLimits {
    let hangTimeout: Duration
    let gracePeriod: Duration
    let cancellation: CancellationFlag
}

/// Decides while a host waits for an extension whether it may go on waiting.
struct SessionWatch {
    private let limits: SessionLimits
    private let observer: SessionObserver
    private let name: String
    private var cancelledAt: SuspendingClock.Instant?

    init(_ limits: SessionLimits, _ observer: SessionObserver, name: String) {
        self.limits = limits
        self.observer = observer
        self.name = name
    }

    /// Whether the extension was told to stop, or is about to be.
    var isCancelled: Bool { cancelledAt != nil || limits.cancellation.isCancelled }

    /// Whether the extension is to be told to stop when the operation is cancelled.
    var awaitsCancellation: Bool { cancelledAt == nil }

    /// The time that the extension has left, unless it does something.
    var timeLeft: Duration {
        guard let cancelledAt else { return limits.hangTimeout - observer.idleTime }
        return limits.gracePeriod - (SuspendingClock.now - cancelledAt)
    }

    /// Looks at the limits; returns `true` once, when the extension is to be told to stop.
    ///
    /// - Throws: ``MigrationError`` of code `extensionHung` or `cancellationIgnored`, upon which the
    ///   extension is to be ended.
    mutating func check() throws(MigrationError) -> Bool {
        if let cancelledAt {
            guard SuspendingClock.now - cancelledAt > limits.gracePeriod else { return false }
            throw SessionFailure.ignoredCancellation(name, limits.gracePeriod)
        }
        if limits.cancellation.isCancelled {
            cancelledAt = .now
            return true
        }
        guard observer.idleTime > limits.hangTimeout else { return false }
        throw SessionFailure.hang(name, limits.hangTimeout)
    }

    /// What an error that the extension threw means for the session.
    func failure(of error: any Error) -> any Error {
        if isCancelled { return CancellationError() }
        return SessionFailure.thrown(name, error)
    }
}

/// The errors by which a session with an extension ends.
enum SessionFailure {
    static func hang(_ name: String, _ timeout: Duration) -> MigrationError {
        let message =
            "\(name) hung: it appended nothing and its progress did not move for \(timeout.text)"
        return MigrationError(.extensionHung, message)
    }

    static func ignoredCancellation(_ name: String, _ grace: Duration) -> MigrationError {
        let message = "\(name) was ended: it went on for \(grace.text) after it was cancelled"
        return MigrationError(.cancellationIgnored, message)
    }

    static func swallowedCancellation(_ name: String) -> MigrationError {
        let message = "\(name) caught the cancellation that the archiver threw, and went on"
        return MigrationError(.cancellationIgnored, message)
    }

    /// An error that the extension's own code threw.
    static func thrown(_ name: String, _ error: any Error) -> MigrationError {
        let isUnsuitable = (error as? MigrationError)?.code == .extensionUnsuitable
        let code: MigrationError.Code = isUnsuitable ? .extensionUnsuitable : .extensionFailed
        return MigrationError(code, "\(name) failed", cause: error)
    }
}

extension Duration {
    /// The duration as a person reads it.
    var text: String {
        formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
    }
}

// MARK: - Observations

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

    private let state = Monitor(State())

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
