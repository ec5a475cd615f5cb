internal import Foundation
internal import MigrationSystem

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

    /// An error that the extension's own code threw; one of this project's passes as it is.
    static func thrown(_ name: String, _ error: any Error) -> MigrationError {
        if let error = error as? MigrationError, error.code == .extensionUnsuitable { return error }
        return MigrationError(.extensionFailed, "\(name) failed", cause: error)
    }
}

extension Duration {
    /// The duration as a person reads it.
    var text: String {
        formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
    }
}
