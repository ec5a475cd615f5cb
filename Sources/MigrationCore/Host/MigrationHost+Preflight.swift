internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

extension MigrationHost {
    /// Asks an app's extension what it can do, before any data moves.
    ///
    /// Every export and import does so first; this alone changes nothing. An entitlement that is not in
    /// order is a finding here, and the extension is not started.
    ///
    /// - Parameters:
    ///   - container: The app's container, which nobody else may be using.
    ///   - appExtension: The extension.
    ///   - rehearsesCancellation: Whether an export is begun, to be cancelled at its first append, which
    ///     shows whether the extension lets the cancellation pass. Nothing of it is kept.
    ///   - versionRehearsal: An import in a version that the extension can't know, which shows whether it
    ///     looks at the version. Nothing of it is kept.
    /// - Returns: What the extension says of itself, how it is confined, and what is wrong with it.
    /// - Throws: ``MigrationError`` of codes `confinementUnavailable`, `containerBusy`,
    ///   `containerInvalid`, `extensionCrashed`, `extensionFailed`, `extensionHung`,
    ///   `extensionUnsuitable`, `invalidOption` and `sessionFailed`; `CancellationError`.
    ///   With a rehearsal of a version also what an export and an import throw.
    @concurrent
    public func preflight(
        _ container: MigrationDataContainer,
        using appExtension: MigrationExtension,
        rehearsesCancellation: Bool = false,
        versionRehearsal: VersionRehearsal? = nil
    ) async throws -> PreflightReport {
        try await withOperationThread { cancellation in
            let session = PreflightSession(
                container: container,
                appExtension: appExtension,
                rehearsesCancellation: rehearsesCancellation,
                versionRehearsal: versionRehearsal,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try session.run()
        }
    }
}
