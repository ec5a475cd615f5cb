internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// One import: an archive restored beside the container, proved whole, and committed in one step.
struct ImportSession {
    let source: ArchiveSource
    let container: MigrationDataContainer
    let options: ImportOptions
    let appExtension: MigrationExtension?
    let progress: Progress?
    let cancellation: CancellationFlag

    private var path: PathName { container.rootPath }

    func run() throws -> ImportReport {
        let threadCount = ThreadCount.resolve(options.threadCount)
        let input = try source.open(cancellation)
        let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
        progress?.setTotal(Int64(clamping: input.size ?? 0))
        try checkBeforehand(reader.header)
        try makeContainer()
        let lock = try ContainerLock(path, .exclusive)
        defer { lock.release() }
        try ContainerRecovery.recover(path, root: lock.root)
        try checkStagingIsFree()
        let holdsData = try ContainerContents.holdsData(lock.root, at: path)
        guard !holdsData || options.replacesData else {
            let message = "the container holds data; it is replaced only on request"
            throw MigrationError(.containerHoldsData, message, path: path.path)
        }
        var reserve: RecordReserve?
        do {
            reserve = try begin(in: lock.root)
            let outcome = try restore(reader, beside: lock.root)
            return report(reader, outcome, replacedData: holdsData)
        } catch {
            let error = Self.located(error, at: path)
            // Where this can't be written, the journal stays and says that the import was cut off.
            try? recordFailure(error, reader.header, in: lock.root, reserve)
            throw error
        }
    }

    /// Notes in the container that an import begins, and keeps room for how it may fail.
    private func begin(in root: OpenFile) throws -> RecordReserve {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        try ImportJournal(phase: .staging, record: nil).write(to: bookkeeping)
        return try RecordReserve.make(in: bookkeeping)
    }

    /// Throws what can be known before anything is touched.
    private func checkBeforehand(_ header: ArchiveHeader?) throws {
        guard let appExtension else { return try checkIdentifier(header) }
        // The data may be of the app under another platform's name; the extension decides.
        do {
            _ = try Entitlement.check(appExtension, for: container)
        } catch let problem as EntitlementProblem {
            throw problem.error
        }
        _ = try ImportCall(directory: [], header: header, source: options.source)
    }

    private func checkIdentifier(_ header: ArchiveHeader?) throws {
        guard let header, let known = container.knownIdentifier else { return }
        guard header.bundleIdentifier == known else {
            let archived = PrintableText.escaping(header.bundleIdentifier)
            let expected = PrintableText.escaping(known)
            let message = "the archive is of \(archived), the container of \(expected)"
            throw MigrationError(.identifierMismatch, message, path: path.path)
        }
    }

    private func makeContainer() throws {
        do throws(SystemError) {
            // A parent that can't be read is no obstacle where the container is there.
            if try FileDescriptor.status(atPath: path.path).kind == .directory { return }
        } catch {
            guard error.isMissing else { throw Self.located(error, at: path) }
        }
        do {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.makeDirectory(path.name, permissions: 0o755)
            try parent.synchronize()
        } catch {
            guard error.isExisting else {
                let message = "the container can't be made"
                throw MigrationError(.outputFailed, message, path: path.path, cause: error)
            }
        }
    }

    /// Throws where another process is still at work in the staging directory.
    private func checkStagingIsFree() throws {
        do throws(SystemError) {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.open(StagingDirectory.nameBeside(path), .directory).lock(.exclusive)
        } catch {
            guard error.isBusy else { return }
            let message = "another migration of the container is not at its end"
            throw MigrationError(.containerBusy, message, path: path.path)
        }
    }

    private func report(
        _ reader: ArchiveReader,
        _ outcome: (extractor: ArchiveExtractor, appExtension: ExtensionReport?),
        replacedData: Bool
    ) -> ImportReport {
        var totals = outcome.extractor.totals
        totals.dataBytes = reader.totals?.dataBytes ?? totals.contentBytes
        return ImportReport(
            header: reader.header,
            fingerprint: reader.fingerprint,
            lacksEndMark: reader.lacksEndMark,
            totals: totals,
            omissions: outcome.extractor.omissions,
            replacedData: replacedData,
            appExtension: outcome.appExtension
        )
    }
}

// MARK: - Staging and committing

extension ImportSession {
    private func restore(
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

    private func checkSpace(for reader: ArchiveReader, in staging: StagingDirectory) throws {
        let needed = reader.totals?.dataBytes ?? reader.header?.sizeEstimate ?? 0
        let available = try staging.directory.descriptor.availableSpace()
        guard needed > available else { return }
        let message = "the container needs \(needed) bytes, and \(available) are free"
        throw MigrationError(.outOfSpace, message, path: path.path)
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
            try UnreadFiles(in: directory.directory, cancellation)
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
        var extraction = ArchiveExtractor.Options(options, isForeign: reader.header == nil)
        extraction.leftOut = names.map { EntryPath(bytes: $0) }
        if reader.header == nil {
            extraction.byteLimit = try directory.descriptor.availableSpace()
        }
        let extractor = ArchiveExtractor(
            root: try directory.descriptor.duplicate(),
            options: extraction
        )
        try extractor.extract(from: reader) { consumed in
            progress?.completedUnitCount = Int64(clamping: consumed)
        }
        return extractor
    }
}

// MARK: - The record of the outcome

extension ImportSession {
    private func record(
        _ outcome: ImportRecord.Outcome,
        _ header: ArchiveHeader?,
        _ fingerprint: Fingerprint? = nil
    ) -> ImportRecord {
        ImportRecord(
            outcome: outcome,
            date: Date(),
            bundleIdentifier: header?.bundleIdentifier,
            platform: header?.platform,
            resourcesVersion: header?.resourcesVersion,
            fingerprint: fingerprint?.description
        )
    }

    /// Persists why the import failed, in the container whose root is locked.
    private func recordFailure(
        _ error: any Error,
        _ header: ArchiveHeader?,
        in root: OpenFile,
        _ reserve: RecordReserve?
    ) throws {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let journal = try ImportJournal.read(from: bookkeeping)
        // A commit that could not be undone goes on at the next command; it did not fail yet.
        guard journal?.phase == .staging else { return }
        let outcome: ImportRecord.Outcome
        if error is CancellationError {
            outcome = .interrupted
        } else {
            outcome = ImportRecord.Outcome(failure: error)
        }
        let data = try BookkeepingCoding.encode(record(outcome, header))
        if let reserve {
            try reserve.write(data)
        } else {
            try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }

    /// Names the container in errors that know only the system's call.
    private static func located(_ error: any Error, at path: PathName) -> any Error {
        guard let error = error as? SystemError else { return error }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "the import failed", path: path.path, cause: error)
    }
}
