internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// How an archive becomes the container.
extension ImportSession {
    /// Stages what `reader` holds beside the container, and commits it.
    func restore(
        _ reader: ArchiveReader,
        beside root: OpenFile
    ) throws -> (extractor: ArchiveExtractor, appExtension: ExtensionReport?) {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let staging = try StagingDirectory.make(for: path, root: root)
        defer { staging.release() }
        do {
            try checkSpace(for: reader, in: staging)
            let outcome = try fill(staging, from: reader)
            let commit = ContainerCommit(
                path: path,
                live: root,
                staging: staging,
                record: record(.success, reader.header, reader.fingerprint)
            )
            try cancellation.check()
            try commit.run()
            return outcome
        } catch {
            // A commit that could not be undone needs what is staged when it is taken up again.
            if try ImportJournal.read(from: bookkeeping)?.phase == .staging { try staging.remove() }
            throw error
        }
    }

    /// Makes the staged container of what the archive holds.
    private func fill(
        _ staging: StagingDirectory,
        from reader: ArchiveReader
    ) throws -> (extractor: ArchiveExtractor, appExtension: ExtensionReport?) {
        guard let appExtension else {
            let ownNames = [ContainerLayout.bookkeepingName, ContainerLayout.metadataName]
            return (try extract(reader, into: staging.directory, leavingOut: ownNames), nil)
        }
        let directory = try ImportDirectory(in: staging)
        let host = try beginSession(with: appExtension, in: staging)
        defer { host.end() }
        let extractor = try extract(reader, into: directory.directory, leavingOut: [])
        let call = try ImportCall(
            directory: directory.path,
            header: reader.header,
            source: options.source
        )
        let appImport = AppExtensionImport(host: host, call: call)
        let report = try appImport.run(progress: progress, cancellation: cancellation) {
            try UnreadFiles(in: directory.directory, at: directory.path, cancellation)
        }
        try directory.remove()
        return (extractor, report)
    }

    /// Begins the session before anything is extracted, so that an extension that can't import costs
    /// nothing.
    private func beginSession(
        with appExtension: MigrationExtension,
        in staging: StagingDirectory
    ) throws -> AppExtensionHost {
        let staged = MigrationDataContainer(
            root: staging.path,
            knownIdentifier: container.knownIdentifier
        )
        let host = try AppExtensionHost.begin(
            .importing,
            appExtension,
            in: staged,
            cancellation: cancellation
        )
        do {
            try host.checkImports()
            let space = try staging.directory.descriptor.availableSpace()
            appExtension.preflightHandler?(host.preflight(availableSpace: space))
            return host
        } catch {
            host.end()
            throw error
        }
    }

    private func extract(
        _ reader: ArchiveReader,
        into directory: OpenFile,
        leavingOut names: [ByteString]
    ) throws -> ArchiveExtractor {
        var extraction = try ArchiveExtractor.Options(options, for: reader, in: directory)
        extraction.leftOut = names.map { EntryPath(bytes: $0) }
        return try ArchiveExtractor.restore(
            reader,
            in: directory,
            options: extraction,
            progress: progress
        )
    }
}
