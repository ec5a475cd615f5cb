package import MigrationArchive
package import MigrationCore
internal import MigrationSystem

/// What is done with backups, on a thread that may wait for files and pipes.
package enum BackupOperations {
    /// Makes an archive of a backup.
    @concurrent
    package static func convert(
        _ place: BackupPlace,
        options: BackupConversion.Options,
        to destination: ArchiveDestination,
        spoolingTo directory: BytePath
    ) async throws -> ConversionReport {
        try await withOperationThread { cancellation in
            let source = try BackupSource.open(
                place,
                spoolDirectory: directory,
                cancellation: cancellation
            )
            return try BackupConversion(source, options: options, cancellation: cancellation)
                .run(to: destination)
        }
    }

    /// Makes a stream for Android of an archive.
    @concurrent
    package static func convert(
        _ source: ArchiveSource,
        options: StreamConversion.Options,
        to destination: ArchiveDestination,
        spoolingTo directory: BytePath
    ) async throws -> ConversionReport {
        try await withOperationThread { cancellation in
            try StreamConversion(
                options: options,
                spoolingTo: directory,
                cancellation: cancellation
            ).run(source, to: destination)
        }
    }

    /// Writes a manifest, which appears under its name when it is whole.
    @concurrent
    package static func write(
        _ manifest: CrossPlatformManifest,
        to destination: ArchiveDestination
    ) async throws {
        let bytes = try manifest.encoded()
        try await withOperationThread { cancellation in
            let file = try ArchiveFile.make(at: destination, cancellation: cancellation)
            do {
                try file.output.write(bytes.span)
            } catch {
                file.discard()
                throw error
            }
            try file.commit()
        }
    }

    /// What something turned out to be that may be a backup.
    package enum Inspection: Sendable {
        case archive(ArchiveInspection)
        case backup(BackupSummary)
    }

    /// Lists the entries of a backup or of an archive; without `body`, says only what it is.
    @concurrent
    package static func inspect(
        _ source: ArchiveSource,
        at place: BackupPlace,
        spoolingTo directory: BytePath,
        _ body: (@Sendable (ArchiveEntry) throws -> Void)? = nil
    ) async throws -> Inspection {
        try await withOperationThread { cancellation in
            if let tree = RawTree(appAt: place) {
                let summary = try BackupSummary(
                    .tree(tree),
                    cancellation: cancellation,
                    body ?? { _ in }
                )
                return .backup(summary)
            }
            let input = try source.open(cancellation)
            guard try BackupStream.isBackup(input) else {
                guard let body else { return .archive(try ArchiveSource.inspect(input)) }
                return .archive(try ArchiveSource.forEachEntry(of: input, body))
            }
            let backup: BackupSource
            if case .path = place.origin {
                backup = try .open(place, spoolDirectory: directory, cancellation: cancellation)
            } else {
                let stream = try BackupStream.open(
                    input,
                    password: place.password,
                    spoolingTo: directory
                )
                backup = .stream(stream)
            }
            let summary = try BackupSummary(
                backup,
                cancellation: cancellation,
                body ?? { _ in }
            )
            return .backup(summary)
        }
    }

    /// Reads what lies where in a backup.
    @concurrent
    package static func tree(
        _ place: BackupPlace,
        package: String?,
        spoolingTo directory: BytePath
    ) async throws -> DataTree {
        try await withOperationThread { cancellation in
            try DataTree(
                BackupSource.open(place, spoolDirectory: directory, cancellation: cancellation),
                package: package
            )
        }
    }
}

extension RawTree {
    /// Opens what lies at `place` where it is a directory that looks like an app's.
    fileprivate init?(appAt place: BackupPlace) {
        // What is none, for whatever reason, is taken for an archive, which says why it is none.
        guard case .path(let path) = place.origin, let tree = try? RawTree(path),
            tree.looksLikeAnApp
        else { return nil }
        self = tree
    }
}
