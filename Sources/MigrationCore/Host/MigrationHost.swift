public import Foundation
internal import MigrationArchive
package import MigrationSystem

/// The system side of a migration: what iOS does around an app's extension, for anyone to call.
///
/// A host locks the container, asks the extension, writes or reads the archive, commits in one step,
/// and persists the outcome. With no extension of the app's own, the whole container is moved.
///
///     let container = try MigrationDataContainer(
///         at: directory,
///         bundleIdentifier: "com.example.notes"
///     )
///     let report = try await MigrationHost().exportContainer(container, to: .file(archive))
///
/// The work is done on threads of the host's own; cancelling the calling task ends it, with
/// everything cleaned up and a `CancellationError`.
public struct MigrationHost: Sendable {
    /// The version of this library.
    public static let version = "0.1.0"

    /// The environment variable that tells an app's process its container.
    public static let containerVariable = "MIGRATION_CONTAINER"

    package static let creator = "migrate \(version)"

    /// How long an operation waits for a container that another process uses; by default not at all.
    ///
    /// The time for which the machine sleeps does not count. An operation that waited in vain throws a
    /// ``MigrationError`` of code `containerBusy`, which names the process.
    public var waitLimit = Duration.zero

    /// Is told once, where an operation begins to wait, what it waits for.
    public var waitHandler: (@Sendable (MigrationError) -> Void)?

    /// Whether operations of this process, which end by themselves, are waited for as long as it takes.
    var queues = false

    /// Makes a host.
    public init() {}

    /// How long an operation waits that `cancellation` ends.
    func wait(_ cancellation: CancellationFlag) -> LockWait {
        LockWait(
            limit: waitLimit,
            queues: queues,
            cancellation: cancellation,
            handler: waitHandler
        )
    }

    /// Exports a container into an archive.
    ///
    /// Of an export that fails nothing is left, and an archive that was there stays as it was.
    ///
    /// - Parameters:
    ///   - container: The container, which nobody else may be using.
    ///   - destination: Where the archive goes. A file appears only when it is whole.
    ///   - appExtension: The app's own extension, which says what is exported; `nil` exports everything.
    ///   - options: What is exported, and how.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was archived.
    /// - Returns: What was archived, what was left out and why.
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid`, `outputExists`,
    ///   `outputFailed`, `outOfSpace` and `invalidOption`; `ArchiveError` of codes `sourceChanged`,
    ///   `sourceUnreadable`, `unrepresentable`, `outputFailed` and `outOfSpace`; `SystemError` where the
    ///   destination's descriptor is not open; `CancellationError`.
    ///   With an extension, ``MigrationError`` also of codes `cancellationIgnored`,
    ///   `confinementUnavailable`, `entitlementInvalid`, `exportIncomplete`, `extensionCrashed`,
    ///   `extensionFailed`, `extensionHung`, `extensionUnsuitable` and `sessionFailed`.
    @concurrent
    public func exportContainer(
        _ container: MigrationDataContainer,
        to destination: ArchiveDestination,
        using appExtension: MigrationExtension? = nil,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try options.check()
        return try await withOperationThread { cancellation in
            let session = ExportSession(
                container: container,
                destination: destination,
                options: options,
                appExtension: appExtension,
                progress: progress,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try session.run()
        }
    }

    /// Imports an archive into a container, all of it or nothing.
    ///
    /// What becomes of the import is persisted in the container for the app's next launch, unless
    /// the import is refused before the container is touched: the archive can't be read at all, the
    /// container is in use, holds data or is another app's.
    ///
    /// - Parameters:
    ///   - archive: A migration archive, or the tar file of another program, compressed with zstd or not.
    ///   - container: The container; its directory is made where it is missing.
    ///   - appExtension: The app's own extension, which puts what the archive holds where the app wants
    ///     it; `nil` puts everything back at its path.
    ///   - options: What is done with data that is there, and with links that lead out.
    ///   - progress: Gets the archive's bytes as its total, and how many were read.
    /// - Returns: What was restored, and what of the archive was not.
    /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerHoldsData`, `containerInvalid`,
    ///   `identifierMismatch`, `invalidOption`, `outOfSpace` and `outputFailed`; `ArchiveError` of codes
    ///   `damaged`, `entryExists`, `inputFailed`, `notAnArchive`, `outOfSpace`, `outputFailed`,
    ///   `refused`, `truncated` and `unsupported`; `CancellationError`.
    ///   With an extension, ``MigrationError`` also of codes `cancellationIgnored`,
    ///   `confinementUnavailable`, `entitlementInvalid`, `extensionCrashed`, `extensionFailed`,
    ///   `extensionHung`, `extensionUnsuitable` and `sessionFailed`.
    @concurrent
    public func importArchive(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        using appExtension: MigrationExtension? = nil,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try ThreadCount.check(options.threadCount)
        return try await withOperationThread { cancellation in
            let session = ImportSession(
                source: archive,
                container: container,
                options: options,
                appExtension: appExtension,
                progress: progress,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try session.run()
        }
    }
}

/// Runs `body` on a thread of its own, with a flag that is raised when the calling task is cancelled.
package func withOperationThread<Result>(
    _ body: (CancellationFlag) async throws -> Result
) async throws -> Result {
    let cancellation = CancellationFlag()
    let thread: OperationThread
    do {
        thread = try OperationThread()
    } catch {
        throw MigrationError(.outputFailed, "no thread can be started", cause: error)
    }
    defer { thread.close() }
    return try await withTaskCancellationHandler {
        try await withTaskExecutorPreference(thread) {
            try await body(cancellation)
        }
    } onCancel: {
        cancellation.cancel()
    }
}

extension ExportOptions {
    fileprivate func check() throws(MigrationError) {
        guard (1...19).contains(compressionLevel) else {
            throw MigrationError(.invalidOption, "the compression level must be from 1 to 19")
        }
        try ThreadCount.check(threadCount)
    }
}

extension ThreadCount {
    static func check(_ requested: Int?) throws(MigrationError) {
        guard let requested, !(1...64).contains(requested) else { return }
        throw MigrationError(.invalidOption, "the number of threads must be from 1 to 64")
    }
}
