package import MigrationArchive
package import MigrationCore
internal import MigrationSystem

/// Operations on backups, on a thread that may block.
package enum BackupOperations {
    /// Converts a backup to an archive.
    @concurrent
    package static func convert(
        _ location: BackupLocation,
        options: BackupConversion.Options,
        to destination: ArchiveDestination,
        spoolingTo directory: BytePath
    ) async throws -> ConversionReport {
        var location = location
        location.package = options.package ?? options.manifest?.package
        return try await withOperation(threadCount: options.threadCount) { [location] operation in
            let source = try BackupSource.open(location, spoolDirectory: directory, on: operation)
            return try BackupConversion(source, options: options, on: operation)
                .run(to: destination)
        }
    }

    /// Converts an archive to a stream for Android.
    @concurrent
    package static func convert(
        _ source: ArchiveSource,
        options: StreamConversion.Options,
        to destination: ArchiveDestination,
        spoolingTo directory: BytePath
    ) async throws -> ConversionReport {
        try await withOperation { operation in
            try StreamConversion(options: options, spoolingTo: directory, on: operation)
                .run(source, to: destination)
        }
    }

    /// Writes a manifest, which appears under its name when it is complete.
    @concurrent
    package static func write(
        _ manifest: CrossPlatformManifest,
        to destination: ArchiveDestination
    ) async throws {
        let bytes = try manifest.encoded()
        try await withOperation { operation in
            try ArchiveFile.write(to: destination, on: operation) { file in
                try file.output.write(bytes.span)
            }
        }
    }

    /// The kind of a file that may be a backup.
    package enum Inspection: Sendable {
        case archive(ArchiveInspection)
        case backup(BackupSummary)
    }

    /// Lists the entries of a backup or an archive; without `body`, only inspects it.
    ///
    /// If `paths` holds any, entries elsewhere may be skipped.
    @concurrent
    package static func inspect(
        _ source: ArchiveSource,
        at location: BackupLocation,
        spoolingTo directory: BytePath,
        paths: [EntryPath] = [],
        _ body: (@Sendable (ArchiveEntry) throws -> Void)? = nil
    ) async throws -> Inspection {
        try await withOperation(threadCount: 1) { operation in
            if let tree = RawTree(appAt: location) {
                return .backup(try BackupSummary(.tree(tree), on: operation, body ?? { _ in }))
            }
            let input = try source.open(operation)
            guard try BackupStream.isBackup(input) else {
                guard let body else { return .archive(try ArchiveSource.inspect(input)) }
                return .archive(try ArchiveSource.forEachEntry(of: input, at: paths, body))
            }
            let backup: BackupSource
            if case .path = location.origin {
                backup = try .open(location, spoolDirectory: directory, on: operation)
            } else {
                let stream = try BackupStream.open(
                    input,
                    password: location.password,
                    spoolingTo: directory
                )
                stream.sizePolicy = location.sizePolicy
                backup = .stream(stream)
            }
            return .backup(try BackupSummary(backup, on: operation, body ?? { _ in }))
        }
    }

    /// Reads the storage tree of a backup.
    @concurrent
    package static func tree(
        _ location: BackupLocation,
        package: String?,
        spoolingTo directory: BytePath
    ) async throws -> DataTree {
        var location = location
        location.package = package
        return try await withOperation { [location] operation in
            try DataTree(
                BackupSource.open(location, spoolDirectory: directory, on: operation),
                package: package,
                on: operation
            )
        }
    }
}

extension RawTree {
    /// Opens `location` if it is a directory that looks like an app's.
    fileprivate init?(appAt location: BackupLocation) {
        // Anything else is treated as an archive; reading it reports the problem.
        guard case .path(let path) = location.origin, let tree = try? RawTree(path),
            tree.looksLikeAnApp
        else { return nil }
        self = tree
    }
}
