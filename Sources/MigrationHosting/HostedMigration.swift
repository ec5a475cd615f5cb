public import Foundation
public import MigrationCore
internal import MigrationSystem

// MARK: - Exports and imports with an app's extension

extension MigrationHost {
    /// Exports what an app's own extension chooses into an archive.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - destination: Where to write the archive. A file appears only when it is complete.
    ///   - appExtension: The extension, which chooses the data; `nil` exports everything.
    ///   - options: How to export.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was archived.
    /// - Returns: What was archived, and what was omitted and why.
    /// - Throws: The errors of an export of the whole container, and ``MigrationError`` of codes
    ///   `cancellationIgnored`, `confinementUnavailable`, `entitlementInvalid`, `exportIncomplete`,
    ///   `extensionCrashed`, `extensionFailed`, `extensionHung`, `extensionUnsuitable` and `sessionFailed`.
    @concurrent
    public func export(
        _ container: MigrationDataContainer,
        to destination: ArchiveDestination,
        using appExtension: MigrationExtension?,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(
            container,
            for: .archive(destination),
            by: appExtension,
            options: options,
            progress: progress
        )
    }

    /// Computes the fingerprint that an archive of an extension's export would have, without
    /// writing one.
    ///
    /// It is the same as that of an archive if the extension appends the same items in the same order.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - appExtension: The extension, which chooses the data; `nil` takes everything.
    ///   - options: How an export would be made; the compression does not matter.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was read.
    /// - Returns: What an export would report, without the archive's size.
    /// - Throws: The errors of ``export(_:to:using:options:progress:)``, except for those of the output.
    @concurrent
    public func fingerprint(
        of container: MigrationDataContainer,
        using appExtension: MigrationExtension?,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(
            container,
            for: .fingerprint,
            by: appExtension,
            options: options,
            progress: progress
        )
    }

    /// Finds out what an export by an extension would do, without writing anything.
    ///
    /// The extension takes part as in an export, but the archive is not kept.
    ///
    /// - Parameters:
    ///   - container: The container, which must not be in use.
    ///   - destination: Where the archive would be written.
    ///   - appExtension: The extension, which chooses the data; `nil` takes everything.
    ///   - options: How the export would be made.
    ///   - progress: Gets the estimate of the content's bytes as its total, and what was read.
    /// - Returns: What the export would report.
    /// - Throws: The errors of ``export(_:to:using:options:progress:)``, except for those of writing.
    @concurrent
    public func previewExport(
        of container: MigrationDataContainer,
        to destination: ArchiveDestination,
        using appExtension: MigrationExtension?,
        options: ExportOptions = ExportOptions(),
        progress: Progress? = nil
    ) async throws -> ExportReport {
        try await run(
            container,
            for: .preview(destination),
            by: appExtension,
            options: options,
            progress: progress
        )
    }

    /// Imports an archive into a container by an app's own extension, completely or not at all.
    ///
    /// The extension can't be asked what it would do, so there is no preview of such an import.
    ///
    /// - Parameters:
    ///   - archive: A migration archive, or the tar file of another program, compressed with zstd
    ///     or not.
    ///   - container: The container; its directory is made if it is missing.
    ///   - appExtension: The extension, which puts the files where the app expects them; `nil`
    ///     restores everything at its path.
    ///   - options: How to import.
    ///   - progress: Gets the archive's bytes as its total, and how many were read, and then the
    ///     extension's own units.
    /// - Returns: What was restored, and what was omitted and why.
    /// - Throws: The errors of an import of the whole container, and ``MigrationError`` of codes
    ///   `cancellationIgnored`, `confinementUnavailable`, `entitlementInvalid`, `extensionCrashed`,
    ///   `extensionFailed`, `extensionHung`, `extensionUnsuitable` and `sessionFailed`.
    @concurrent
    public func `import`(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        using appExtension: MigrationExtension?,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await run(
            archive,
            into: container,
            by: appExtension,
            options: options,
            progress: progress
        )
    }

    /// Imports an archive into a container, completely or not at all.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - container: The container.
    ///   - appExtension: The app's own extension.
    ///   - options: How to import.
    ///   - progress: Gets the archive's bytes as its total, and how many were read.
    /// - Returns: What was restored, and what was omitted and why.
    /// - Throws: The errors of ``import(_:into:using:options:progress:)``.
    @available(*, deprecated, renamed: "import(_:into:using:options:progress:)")
    @concurrent
    public func importArchive(
        _ archive: ArchiveSource,
        into container: MigrationDataContainer,
        using appExtension: MigrationExtension? = nil,
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await self.import(
            archive,
            into: container,
            using: appExtension,
            options: options,
            progress: progress
        )
    }
}

// MARK: - Preflight

extension MigrationHost {
    /// Asks an app's extension for its description, before any data moves.
    ///
    /// Every export and import begins with this; a preflight alone changes nothing. An invalid
    /// entitlement is a finding here, and the extension is not started.
    ///
    /// - Parameters:
    ///   - container: The app's container, which must not be in use.
    ///   - appExtension: The extension.
    ///   - rehearsesCancellation: Whether to begin an export and cancel it at its first append,
    ///     which shows whether the extension passes the cancellation on. Nothing of it is kept.
    ///   - versionRehearsal: An import in a version that the extension can't know, which shows
    ///     whether it checks the version. Nothing of it is kept.
    /// - Returns: The extension's description, its confinement, and its mistakes.
    /// - Throws: ``MigrationError`` of codes `confinementUnavailable`, `containerBusy`,
    ///   `containerInvalid`, `extensionCrashed`, `extensionFailed`, `extensionHung`,
    ///   `extensionUnsuitable`, `invalidOption` and `sessionFailed`; `CancellationError`.
    ///   With a rehearsal of a version, also the errors of an export and an import.
    @concurrent
    public func preflight(
        _ container: MigrationDataContainer,
        using appExtension: MigrationExtension,
        rehearsesCancellation: Bool = false,
        versionRehearsal: VersionRehearsal? = nil
    ) async throws -> PreflightReport {
        try await withOperation(threadCount: 1) { operation in
            let preflight = Preflight(
                container: container,
                appExtension: appExtension,
                rehearsesCancellation: rehearsesCancellation,
                versionRehearsal: versionRehearsal,
                operation: operation,
                migrationHost: self
            )
            return try preflight.run()
        }
    }
}
