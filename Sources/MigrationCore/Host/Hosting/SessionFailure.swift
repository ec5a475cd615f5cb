internal import Foundation

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
