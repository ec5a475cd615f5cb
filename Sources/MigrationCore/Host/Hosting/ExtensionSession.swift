internal import Foundation
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
    /// Begins a session in `place`, watched by `observer`.
    func beginSession(
        in place: SessionPlace,
        observer: SessionObserver,
        cancellation: CancellationFlag
    ) throws -> any ExtensionSession {
        let limits = SessionLimits(
            hangTimeout: hangTimeout,
            gracePeriod: gracePeriod,
            cancellation: cancellation
        )
        switch self.place {
        case .value(let hosted):
            return try InProcessSession(hosted, in: place, observer: observer, limits: limits)
        case .executable(let url):
            return try ProcessSession(
                executable: ByteString(pathOf: url),
                terms: self,
                in: place,
                observer: observer,
                limits: limits
            )
        }
    }
}
