public import Foundation
public import MigrationArchive
internal import MigrationSystem

extension MigrationHost {
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
            let operation = ImportOperation(
                source: archive,
                container: container,
                options: options,
                appExtension: appExtension,
                progress: progress,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try operation.run()
        }
    }
}

/// What an import or an extraction did.
public struct ImportReport: Sendable {
    /// What the archive says of itself; `nil` for a tar file of another program.
    public let header: ArchiveHeader?

    /// The hash that proved the archive whole; `nil` for a tar file of another program, which carries no proof.
    public let fingerprint: Fingerprint?

    /// Whether a tar file of another program ended without its end mark, as one does that was cut short.
    public let lacksEndMark: Bool

    /// Whether bytes follow the end of a tar file of another program, which were not restored.
    public let hasTrailer: Bool

    /// Whether what was extracted is the backup of an Android app, still in Android's layout.
    public let isAndroidBackup: Bool

    /// How much was restored.
    public let totals: ArchiveTotals

    /// What the archive holds and was not restored.
    public let omissions: OmissionList

    /// Why data that this import replaced, or that an earlier one left, could not be removed.
    ///
    /// Each names where it lies, in the container's `.migration` or beside the container. It does no
    /// harm there, and the next command tries again.
    public internal(set) var leftovers: [MigrationError] = []

    /// Whether the container held data that this import replaced.
    public let replacedData: Bool

    /// What the session with the app's extension showed; `nil` where the whole container was imported.
    public let appExtension: ExtensionReport?
}

// MARK: - The operation

/// One import: an archive restored beside the container, proved whole, and committed in one step.
struct ImportOperation {
    let source: ArchiveSource
    let container: MigrationDataContainer
    let options: ImportOptions
    let appExtension: MigrationExtension?
    let progress: Progress?
    let cancellation: CancellationFlag
    let wait: LockWait

    /// What an archive that became the container left to tell.
    private typealias Outcome = (
        extractor: ArchiveExtractor,
        appExtension: ExtensionReport?,
        leftovers: [MigrationError]
    )

    private var path: PathName { container.rootPath }

    private var checks: ImportChecks {
        ImportChecks(container: container, options: options, appExtension: appExtension)
    }

    func run() throws -> ImportReport {
        let input = try source.open(cancellation)
        progress?.setTotal(Int64(clamping: input.size ?? 0))
        try checks.checkExtension()
        // A container that is missing has no lock and no record, and isn't made for the sake of one.
        let early = try isContainerMissing() ? try openReader(input) : nil
        if let early {
            try early.readAhead()
            try makeContainer()
        }
        let lock = try wait.lock(path)
        defer { lock.release() }
        try ContainerRecovery.recover(path, root: lock.root)
        try wait.untilFree(path) { () throws(MigrationError) in
            try checks.checkStagingIsFree(lock.root)
        }
        let holdsData = try ContainerContents.holdsData(lock.root, at: path)
        guard !holdsData || options.replacesData else {
            let message = "the container holds data; it is replaced only on request"
            throw MigrationError(.containerHoldsData, message, path: path.path)
        }
        return try restore(input, early, replacing: holdsData, lock.root)
    }

    /// Restores the archive in the container whose root is locked, and keeps how that ended.
    private func restore(
        _ input: ArchiveInput,
        _ early: ArchiveReader?,
        replacing holdsData: Bool,
        _ root: OpenFile
    ) throws -> ImportReport {
        // What an earlier import left and nobody could remove stays known by its token.
        let token =
            try StagingDirectory.tokenOfLeftovers(beside: path, root: root) ?? StagingToken()
        var reserve: RecordReserve?
        var reader = early
        var hasBegun = false
        do {
            let opened = try reader ?? openReader(input)
            reader = opened
            reserve = try begin(in: root, token)
            if let appExtension { try ask(appExtension, beside: root, token) }
            hasBegun = true
            let outcome = try restore(
                opened,
                beside: root,
                token,
                reserve,
                replacingData: holdsData
            )
            return report(opened, outcome, replacedData: holdsData)
        } catch {
            let error = Self.located(error, at: path)
            if !hasBegun, Self.isRefusal(error) {
                try? withdraw(in: root)
            } else {
                // Where this can't be written, the journal stays and says that the import was cut off.
                try? recordFailure(error, reader?.header, in: root, reserve, token)
            }
            throw error
        }
    }

    private func isContainerMissing() throws -> Bool {
        do throws(SystemError) {
            _ = try FileDescriptor.status(atPath: path.path)
            return false
        } catch {
            guard error.isMissing else { throw Self.located(error, at: path) }
            return true
        }
    }

    /// Makes the container where there is none.
    private func makeContainer() throws {
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

    private func openReader(_ input: ArchiveInput) throws -> ArchiveReader {
        let threadCount = ThreadCount.resolve(options.threadCount)
        let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
        try checks.checkKind(of: reader)
        try checks.checkHeader(reader.header)
        // From a pipe it is known only when everything was read.
        if input.size != nil { try checks.checkSignature(of: reader) }
        return reader
    }

    /// Notes in the container that an import begins, and keeps room for how it may fail.
    private func begin(in root: OpenFile, _ token: StagingToken) throws -> RecordReserve {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let journal = ImportJournal(phase: .staging, record: nil, staging: token.text)
        try journal.write(to: bookkeeping)
        return try RecordReserve.make(in: bookkeeping)
    }

    private func report(
        _ reader: ArchiveReader,
        _ outcome: Outcome,
        replacedData: Bool
    ) -> ImportReport {
        var totals = outcome.extractor.totals
        totals.dataBytes = reader.totals?.dataBytes ?? totals.contentBytes
        var omissions = outcome.extractor.omissions
        for omission in appExtension?.groupOmissions ?? [] { omissions.append(omission) }
        return ImportReport(
            header: reader.header,
            fingerprint: reader.fingerprint,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup,
            totals: totals,
            omissions: omissions,
            leftovers: outcome.leftovers,
            replacedData: replacedData,
            appExtension: outcome.appExtension
        )
    }
}

// MARK: - Staging

extension ImportOperation {
    /// Stages what `reader` holds beside the container, and commits it.
    private func restore(
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
            try checks.checkSpace(for: reader, in: staging)
            let (extractor, appExtension) = try fill(staging, of: root, from: reader) { extractor in
                if replacingData { try checks.checkReplacement(by: extractor, from: reader) }
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
    private func ask(
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
        extraction.reserved = names.map { EntryPath(bytes: $0) }
        let extractor = try ArchiveExtractor.restore(
            reader,
            in: directory,
            options: extraction,
            progress: progress
        )
        try checks.checkSignature(of: reader)
        return extractor
    }
}

// MARK: - The record

extension ImportOperation {
    /// The record of `outcome`: what the importer was told of the source, which may differ from what the
    /// archive says of itself.
    private func record(
        _ outcome: ImportRecord.Outcome,
        _ header: ArchiveHeader?,
        _ token: StagingToken,
        fingerprint: Fingerprint? = nil
    ) -> ImportRecord {
        let source = options.source
        return ImportRecord(
            outcome: outcome,
            date: Date(),
            bundleIdentifier: source.bundleIdentifier ?? header?.bundleIdentifier,
            platform: source.platform?.rawValue ?? header?.platform,
            resourcesVersion: source.version ?? header?.resourcesVersion,
            fingerprint: fingerprint?.description,
            staging: token.text
        )
    }

    /// Whether the import was refused rather than failed: whoever asked for it can ask otherwise, and
    /// what is known of an earlier import stays.
    private static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? ArchiveError { return error.isAboutKey }
        guard let error = error as? MigrationError else { return false }
        switch error.code {
        case .confinementUnavailable, .containerBusy, .containerHoldsData, .entitlementInvalid,
            .extensionUnsuitable, .identifierMismatch, .invalidOption, .pathNeedsEncoding,
            .signatureInvalid, .signingFailed:
            return true
        default: return false
        }
    }

    /// Takes back that an import had begun, in the container whose root is locked.
    private func withdraw(in root: OpenFile) throws {
        guard let bookkeeping = try BookkeepingDirectory(in: root),
            try ImportJournal.read(from: bookkeeping)?.phase == .staging
        else { return }
        try RecordReserve.remove(from: bookkeeping)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        do {
            try root.descriptor.removeDirectory(ContainerLayout.bookkeepingName)
        } catch {
            guard error.isNotEmpty || error.isExisting else { throw error }
        }
    }

    /// Persists why the import failed, in the container whose root is locked.
    private func recordFailure(
        _ error: any Error,
        _ header: ArchiveHeader?,
        in root: OpenFile,
        _ reserve: RecordReserve?,
        _ token: StagingToken
    ) throws {
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        let journal = try ImportJournal.read(from: bookkeeping)
        // A commit that could not be undone goes on at the next command; it did not fail yet.
        guard journal == nil || journal?.phase == .staging else { return }
        let outcome: ImportRecord.Outcome
        if error is CancellationError {
            outcome = .interrupted
        } else {
            outcome = ImportRecord.Outcome(failure: error)
        }
        let data = try BookkeepingCoding.encode(record(outcome, header, token))
        if try reserve?.write(data) != true {
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
