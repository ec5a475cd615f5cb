internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// How an archive becomes the container.
extension ImportSession {
    /// Stages what `reader` holds beside the container, and commits it.
    func restore(
        _ reader: ArchiveReader,
        beside root: OpenFile,
        _ token: StagingToken,
        _ reserve: RecordReserve?,
        replacingData: Bool
    ) throws -> Outcome {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let staging = try StagingDirectory.make(for: path, root: root, token: token)
        defer { staging.release() }
        do {
            try checkSpace(for: reader, in: staging)
            let (extractor, appExtension) = try fill(staging, of: root, from: reader) { extractor in
                if replacingData { try checkReplacement(by: extractor, from: reader) }
            }
            let commit = ContainerCommit(
                path: path,
                live: root,
                staging: staging,
                record: record(.success, reader.header, token, fingerprint: reader.fingerprint),
                reserve: reserve
            )
            try cancellation.check()
            return (extractor, appExtension, leftovers: try commit.run())
        } catch {
            // A commit that could not be undone needs what is staged when it is taken up again.
            if (try? ImportJournal.read(from: bookkeeping))?.phase == .staging {
                // What stays of it, the next command removes.
                try? staging.remove()
            }
            throw error
        }
    }

    /// Makes the staged container of what the archive holds.
    private func fill(
        _ staging: StagingDirectory,
        of root: OpenFile,
        from reader: ArchiveReader,
        checking check: (ArchiveExtractor) throws -> Void
    ) throws -> (extractor: ArchiveExtractor, appExtension: ExtensionReport?) {
        guard let appExtension else {
            let names = ContainerLayout.ownNames
            let place = staging.directory
            let extractor = try extract(reader, into: place, of: root, leavingOut: names)
            try check(extractor)
            return (extractor, nil)
        }
        let directory = try ImportDirectory(in: staging, for: root)
        let extractor = try extract(reader, into: directory.directory, of: root, leavingOut: [])
        try check(extractor)
        try directory.handOver()
        let host = try beginSession(with: appExtension, in: directory)
        defer { host.end() }
        let call = try ImportCall(
            directory: directory.path.path,
            header: reader.header,
            source: options.source
        )
        let appImport = AppExtensionImport(host: host, call: call)
        let report = try appImport.run(progress: progress, cancellation: cancellation) {
            try UnreadFiles(in: directory.directory, at: directory.path.path, cancellation)
        }
        try directory.remove()
        if appExtension.isInProcess { try directory.giveAway(cancellation) }
        return (extractor, report)
    }

    /// Asks the extension before anything is extracted, so that one that can't import costs nothing.
    ///
    /// It is ended again, and removed is the container that it was asked in, with what it made of that:
    /// while the archive is not yet proved whole, no extension may see it or get in its way.
    func ask(
        _ appExtension: MigrationExtension,
        beside root: OpenFile,
        _ token: StagingToken
    ) throws {
        let staging = try StagingDirectory.make(for: path, root: root, token: token)
        defer {
            // What stays of it, the next staging directory can't be made without removing.
            try? staging.remove()
            staging.release()
        }
        let directory = try ImportDirectory(in: staging, for: root)
        try directory.handOver()
        let host = try beginSession(with: appExtension, in: directory)
        defer { host.end() }
        try host.checkImports()
        let space = try staging.directory.descriptor.availableSpace()
        appExtension.preflightHandler?(host.preflight(availableSpace: space))
        try host.session.end()
    }

    private func beginSession(
        with appExtension: MigrationExtension,
        in directory: ImportDirectory
    ) throws -> AppExtensionHost {
        let staged = MigrationDataContainer(
            root: directory.containerPath,
            knownIdentifier: container.knownIdentifier
        )
        return try AppExtensionHost.begin(
            .importing,
            appExtension,
            in: staged,
            for: container,
            from: (directory.path, holder: directory.holder),
            cancellation: cancellation
        )
    }

    private func extract(
        _ reader: ArchiveReader,
        into directory: OpenFile,
        of root: OpenFile,
        leavingOut names: [ByteString]
    ) throws -> ArchiveExtractor {
        var extraction = try ArchiveExtractor.Options(options, for: reader, in: directory)
        extraction.owner = try FileOwner(servedIn: root.descriptor)
        extraction.leftOut = names.map { EntryPath(bytes: $0) }
        let extractor = try ArchiveExtractor.restore(
            reader,
            in: directory,
            options: extraction,
            progress: progress
        )
        try checkSignature(of: reader)
        return extractor
    }
}
