internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// A session with an extension, wherever it runs.
///
/// Its calls block until the extension is done. They throw a ``MigrationError`` if it hangs, ends
/// early or ignores a cancellation, and `CancellationError` if it obeys one.
protocol ExtensionSession {
    /// How the extension is confined.
    var confinement: ConfinementReport { get }

    /// The paths by which the extension knows its directories.
    var paths: SessionPaths { get }

    /// Asks the extension for its description.
    func description() throws -> ExtensionDescription

    /// Has the extension export, and archives what it appends.
    func export(_ call: ExportCall, to items: AppendedItemArchiver) throws

    /// Has the extension import the files of a directory.
    func importResources(
        _ call: ImportCall,
        onProgress: @escaping @Sendable (ImportProgress) -> Void
    ) throws -> ImportProgressSummary

    /// Stops the extension if it exceeds its limits while its host is busy.
    func checkBounds()

    /// Stops the extension and all its child processes, before its work is used.
    ///
    /// - Throws: ``MigrationError`` of code `sessionFailed` if some of them may still run.
    func end() throws
}

extension ExtensionSession {
    func checkBounds() {}

    /// Ends the session after an error; does nothing if it has ended.
    func abandon() {
        do {
            try end()
        } catch {
            // The error that led here matters more.
        }
    }
}

extension MigrationExtension {
    /// Begins a session with `directories`, watched by `observer`.
    func beginSession(
        in directories: SessionDirectories,
        observer: SessionObserver,
        on operation: MigrationOperation
    ) throws -> any ExtensionSession {
        let limits = SessionLimits(
            hangTimeout: hangTimeout,
            gracePeriod: gracePeriod,
            operation: operation
        )
        switch kind {
        case .value(let hosted):
            return try InProcessSession(hosted, in: directories, observer: observer, limits: limits)
        case .executable(let url):
            return try ProcessSession(
                executable: BytePath(of: url),
                terms: self,
                in: directories,
                observer: observer,
                limits: limits
            )
        }
    }
}

// MARK: - Limits

/// The time limits of an extension, and whether it must stop.
struct SessionLimits {
    let hangTimeout: Duration
    let gracePeriod: Duration
    let operation: MigrationOperation
}

/// Decides whether a host may keep waiting for its extension.
struct SessionWatch {
    private let limits: SessionLimits
    private let observer: SessionObserver
    private let name: String
    private var signs: SignsOfLife
    private var cancelledAt: SuspendingClock.Instant?

    init(
        _ limits: SessionLimits,
        observer: SessionObserver,
        name: String,
        looking look: @escaping () -> SignsOfLife.Look
    ) {
        self.limits = limits
        self.observer = observer
        self.name = name
        signs = SignsOfLife(limits.hangTimeout, looking: look)
    }

    /// Whether the extension was told to stop, or is about to be.
    var isCancelled: Bool { cancelledAt != nil || limits.operation.isCancelled }

    /// Whether the extension must still be told to stop if the operation is cancelled.
    var awaitsCancellation: Bool { cancelledAt == nil }

    /// The time left until ``check()`` has something to do, unless the extension acts.
    var timeLeft: Duration {
        guard let cancelledAt else {
            return signs.nextLook(after: observer.lastActivity) - SuspendingClock.now
        }
        return limits.gracePeriod - (SuspendingClock.now - cancelledAt)
    }

    /// Checks the limits; returns `true` once, when the extension must be told to stop.
    ///
    /// - Throws: ``MigrationError`` of code `extensionHung` or `cancellationIgnored`; the caller
    ///   then stops the extension.
    mutating func check() throws(MigrationError) -> Bool {
        if let cancelledAt {
            guard SuspendingClock.now - cancelledAt > limits.gracePeriod else { return false }
            throw SessionFailure.ignoredCancellation(by: name, after: limits.gracePeriod)
        }
        if limits.operation.isCancelled {
            cancelledAt = .now
            return true
        }
        guard let hang = signs.check(after: observer.lastActivity) else { return false }
        throw SessionFailure.hang(of: name, hang, after: limits.hangTimeout)
    }

    /// The error of the session for an error that the extension threw.
    func failure(of error: any Error) -> any Error {
        if isCancelled { return CancellationError() }
        return SessionFailure.thrown(by: name, error: error)
    }
}

/// The errors that end a session with an extension.
enum SessionFailure {
    static func hang(
        of name: String,
        _ hang: SignsOfLife.Hang,
        after limit: Duration
    ) -> MigrationError {
        let said = "\(name) hung: it appended nothing and its progress did not move for "
        let message =
            switch hang {
            case .idle: "\(said)\(limit.text), nor did it read or write files"
            case .fruitless:
                "\(said)\((limit * SignsOfLife.patience).text), and its files did not grow"
            }
        return MigrationError(.extensionHung, message, remedy: .allowLongerSilence)
    }

    static func ignoredCancellation(by name: String, after grace: Duration) -> MigrationError {
        let message = "\(name) was stopped: it still ran \(grace.text) after it was cancelled"
        return MigrationError(.cancellationIgnored, message)
    }

    static func swallowedCancellation(_ name: String) -> MigrationError {
        let message = "\(name) caught the cancellation that the archiver threw, and continued"
        return MigrationError(.cancellationIgnored, message)
    }

    /// An error that the extension's own code threw.
    static func thrown(by name: String, error: any Error) -> MigrationError {
        let isUnsuitable = (error as? MigrationError)?.code == .extensionUnsuitable
        let code: MigrationError.Code = isUnsuitable ? .extensionUnsuitable : .extensionFailed
        return MigrationError(code, "\(name) failed", cause: error)
    }
}

// MARK: - Observations

/// Records the actions of an extension during a session, and the time of the last one.
///
/// The clock is monotonic, and stands still while the machine sleeps.
final class SessionObserver: Sendable {
    private struct State {
        var lastActivity = SuspendingClock.now
        var longestWait = Duration.zero
        var mistakes = Mistakes()
        var timeline = TimelineRecorder()
    }

    private let start = SuspendingClock.now

    /// Items that an extension should have appended in another way.
    struct Mistakes {
        /// The names of converted copies.
        var convertedCopies = Examples()
        /// The names in the archive that are percent-encoded.
        var encodedNames = Examples()
        /// The items that do not exist, with the advice that the extension got.
        var misnamed = Examples()
        /// The paths in the archive whose empty components and `.` were dropped.
        var shortenedNames = Examples()
    }

    /// A larger file in the temporary directory counts as a converted copy.
    private static let copyLimit: UInt64 = 1 << 20

    private let state = Monitor(State())

    /// The time of the last action.
    var lastActivity: SuspendingClock.Instant { state.withLock { $0.lastActivity } }

    /// The longest time without an append.
    var longestWait: Duration { state.withLock { $0.longestWait } }

    /// Notes an action, or that the host begins to wait for the extension.
    func noteActivity() {
        state.withLock { $0.lastActivity = SuspendingClock.now }
    }

    /// Notes that the extension appends an item, even if that fails, or has finished.
    func noteEndOfWait() {
        state.withLock { state in
            let now = SuspendingClock.now
            state.longestWait = max(state.longestWait, now - state.lastActivity)
            state.timeline.noteWait(from: seconds(state.lastActivity), to: seconds(now))
        }
    }

    /// Notes an item whose append began at `start`, for the timeline.
    func noteItem(of bytes: UInt64, _ name: [UInt8], since start: SuspendingClock.Instant) {
        state.withLock { state in
            let (start, end) = (seconds(start), elapsed)
            state.timeline.noteAppend(of: bytes, name, from: start, to: end)
        }
    }

    /// Notes the progress that an extension reports, for the timeline.
    func noteProgress(_ completed: Int64, of total: Int64) {
        state.withLock { $0.timeline.noteProgress(completed, of: total, at: elapsed) }
    }

    /// The seconds since the session began.
    private var elapsed: Double { seconds(.now) }

    private func seconds(_ time: SuspendingClock.Instant) -> Double {
        (time - start) / .seconds(1)
    }

    /// The events so far of a session with the extension of this name and on these terms.
    func timeline(of name: String, on terms: MigrationExtension) -> SessionTimeline {
        state.withLock { $0.timeline.timeline(of: name, on: terms, after: elapsed) }
    }

    /// Notes an archived item.
    func noteAppend(of bytes: UInt64, from kind: SourceRoots.Kind, _ name: [UInt8]) {
        state.withLock { state in
            state.lastActivity = SuspendingClock.now
            guard kind == .temporaryDirectory, bytes > Self.copyLimit else { return }
            state.mistakes.convertedCopies.add(PrintableText.escaping(name))
        }
    }

    /// The mistakes so far.
    var mistakes: Mistakes { state.withLock { $0.mistakes } }

    /// Notes a mistake of a kind.
    func note(
        _ mistake: @autoclosure () -> String,
        as kind: WritableKeyPath<Mistakes, Examples>
    ) {
        state.withLock { $0.mistakes[keyPath: kind].add(mistake()) }
    }
}

/// The first few of several things, printable, and their number.
struct Examples {
    private(set) var first: [String] = []
    private(set) var count = 0

    mutating func add(_ text: @autoclosure () -> String) {
        count += 1
        if first.count < 3 { first.append(text()) }
    }

    /// The first ones, with a mark if there are others.
    var text: String { first.joined(separator: ", ") + (count > first.count ? ", …" : "") }
}
