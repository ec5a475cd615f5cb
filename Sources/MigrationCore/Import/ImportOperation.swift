internal import Foundation
public import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

/// The result of an import or an extraction.
public struct ImportReport: Sendable {
    /// The header of the archive; `nil` for a tar file of another program.
    public let header: ArchiveHeader?

    /// The hash that proved the archive complete; `nil` for a tar file of another program.
    public let fingerprint: Fingerprint?

    /// Whether a tar file of another program had no end mark, for example because it was cut short.
    public internal(set) var lacksEndMark = false

    /// Whether a tar file of another program had bytes after its end, which were not restored.
    public internal(set) var hasTrailer = false

    /// Whether the extracted files are an Android backup, still in Android's layout.
    public internal(set) var isAndroidBackup = false

    /// How much was restored.
    public internal(set) var totals = ArchiveTotals()

    /// The omissions: data in the archive that was not restored.
    public internal(set) var omissions = OmissionList()

    /// An error for each leftover of this or an earlier import that could not be removed.
    ///
    /// Each names the path, in the container's `.migration` or beside the container. Leftovers are
    /// harmless, and the next command tries again to remove them.
    public internal(set) var leftovers: [MigrationError] = []

    /// Whether entries are missing because they are damaged; ``omissions`` lists them.
    public internal(set) var isIncomplete = false

    /// Whether nothing was done, because the container's data already came from this archive.
    public internal(set) var isSkipped = false

    /// The data in the container that this import replaced; `nil` if it held none.
    public internal(set) var replaced: ReplacedData?

    /// Whether the container held data that this import replaced.
    public var replacedData: Bool { replaced != nil }

    /// The container that holds the replaced data, as a printable path; `nil` if that data was removed, or
    /// there was none.
    public var keptContainer: String? { keptPath.map { PrintableText.escaping($0) } }

    /// The bytes of this path.
    package internal(set) var keptPath: [UInt8]?

    /// The report of the session with an app's extension; `nil` if the whole container was imported.
    package internal(set) var sessionReport: (any Sendable)?
}

extension ImportReport {
    /// The report on what `extractor` restored from `reader`.
    init(
        of reader: ArchiveReader,
        restoredBy extractor: ArchiveExtractor,
        totals: ArchiveTotals
    ) {
        self.init(
            header: reader.header,
            fingerprint: extractor.tally.isIncomplete ? nil : reader.fingerprint,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup,
            totals: totals,
            omissions: extractor.omissions,
            isIncomplete: extractor.tally.isIncomplete
        )
    }
}

extension ArchiveExtractor {
    /// The restored totals, with the archive's number of data bytes.
    func totals(by reader: ArchiveReader) -> ArchiveTotals {
        var totals = tally.totals
        totals.dataBytes = reader.totals?.dataBytes ?? totals.contentBytes
        return totals
    }
}

// MARK: - The operation

/// One import: restores the archive beside the container, proves it complete, and commits in one
/// step.
struct ImportOperation {
    let source: ArchiveSource
    let container: MigrationDataContainer
    let options: ImportOptions
    let importer: (any ContainerImporter)?
    let operation: MigrationOperation
    let wait: LockWait

    /// The locked container, and what happens to its data.
    private struct Target {
        let lock: ContainerLock
        /// Whether this import made it.
        let isNew: Bool
        /// The data to replace; `nil` if there is none.
        let replaced: ReplacedData?
        /// Where to keep that data; `nil` removes it.
        let kept: KeptContainer?
        /// The token of the staging directory.
        let token: StagingToken
        /// The archive, once it is open.
        var reader: ArchiveReader?
        /// The space for the record of a failure, once the import has begun.
        var reserve: RecordReserve?
    }

    var path: BytePath { container.rootPath }

    func run() throws -> ImportReport {
        do {
            return try importArchive()
        } catch {
            throw explained(error)
        }
    }

    /// Where to keep the data that is replaced; `nil` removes it.
    func keptContainer() throws(MigrationError) -> KeptContainer? {
        guard let path = options.keptPath else { return nil }
        return try KeptContainer(path, for: container.place)
    }

    /// The error of the command that supplies the archive, if that caused `error`.
    func explained(_ error: any Error) -> any Error {
        let error = source.command?.end(after: error) ?? error
        return isOfInterruption(error) ? CancellationError() : error
    }

    /// Whether the archive ended because a signal ended both this process and the one that supplies it.
    private func isOfInterruption(_ error: any Error) -> Bool {
        guard source.path == nil, let error = error as? ArchiveError,
            [.truncated, .notAnArchive].contains(error.code)
        else { return false }
        // The end of the pipe may be seen before the signal.
        return operation.cancellation.isCancelled(within: 0.1)
    }

    private func importArchive() throws -> ImportReport {
        let kept = try keptContainer()
        if options.skipsIfImported, let report = try reportIfImported() { return report }
        let input = try source.open(operation)
        operation.progress?.setTotal(Int64(clamping: input.size ?? 0))
        try checkImporter()
        // A missing container has no lock and no record. It is made only once the archive can be
        // read.
        let early = try isContainerMissing() ? try openReader(input) : nil
        try early?.readAhead()
        let isNew = try early != nil && makeContainer()
        let lock = try wait.lockForWriting(container)
        defer { lock.release() }
        try ContainerRecovery.recover(lock)
        try wait.untilFree(lock.path) { () throws(MigrationError) in
            try checkStagingIsFree(lock)
        }
        let replaced =
            try holdsReplaceableData(lock.root)
            ? ReplacedData(in: lock.root, on: operation) : nil
        var target = Target(
            lock: lock,
            isNew: isNew,
            replaced: replaced,
            kept: replaced == nil ? nil : kept,
            // If a leftover of an earlier import can't be removed, its token stays in use.
            token: try StagingDirectory.tokenOfLeftovers(of: lock) ?? StagingToken(),
            reader: early
        )
        let report = try restore(input, in: &target)
        // An extension counts its own units, and the archive's index is not read as content.
        if importer == nil { operation.progress?.finish() }
        return report
    }

    /// The report of an import that is not needed; `nil` if it is.
    private func reportIfImported() throws -> ImportReport? {
        let (header, fingerprint) = try identity()
        guard let fingerprint, try !isContainerMissing() else { return nil }
        let lock = try wait.lockForWriting(container)
        defer { lock.release() }
        try ContainerRecovery.recover(lock)
        guard try ContainerContents.holdsData(lock.root, at: path),
            let bookkeeping = try BookkeepingDirectory(in: lock.directory),
            try ImportRecordFile(in: bookkeeping).lastFingerprint() == fingerprint.description
        else { return nil }
        return ImportReport(header: header, fingerprint: fingerprint, isSkipped: true)
    }

    /// The archive's own header and fingerprint, without reading its content; an archive that
    /// doesn't meet the requirements is refused.
    private func identity() throws -> (ArchiveHeader?, Fingerprint?) {
        guard source.path != nil else {
            // A signature also covers the header, which is not read yet.
            return (nil, options.requiredSignature == nil ? options.expectedFingerprint : nil)
        }
        let inspection = try ArchiveSource.inspect(source.open(operation))
        try checkHeader(inspection.header)
        try checkProof(inspection.header, inspection.fingerprint)
        return (inspection.header, inspection.fingerprint)
    }

    /// Restores the archive in the container whose root is locked, and records the outcome.
    private func restore(
        _ input: ArchiveInput,
        in target: inout Target
    ) throws -> ImportReport {
        let lock = target.lock
        var hasBegun = false
        do {
            let reader = try target.reader ?? openReader(input)
            target.reader = reader
            if target.replaced != nil { try checkReplacedApp(by: reader.header) }
            try checkTimes()
            target.reserve = try begin(in: target)
            if let importer { try ask(importer, beside: target) }
            hasBegun = true
            return try restore(reader, beside: target)
        } catch {
            let error = located(explained(error))
            // The caller needs the error of the import; a container that isn't removed gets its
            // record.
            if target.isNew, (try? unmakeContainer(lock)) == true { throw error }
            if !hasBegun, Self.isRefusal(error) {
                // If the journal stays, the next command cleans up.
                try? withdraw(in: lock.directory)
            } else {
                // If this can't be written, the journal stays and shows the interruption.
                try? recordFailure(error, in: target)
            }
            throw error
        }
    }

    /// Makes the container; returns whether it didn't exist.
    private func makeContainer() throws -> Bool {
        do {
            let parent = try FileDescriptor.open(path.parent, .directory)
            try parent.makeDirectory(path.lastComponent, permissions: 0o755)
            try parent.synchronize()
            return true
        } catch {
            guard error.isExisting else {
                let message = "the container can't be made"
                throw MigrationError(.outputFailed, message, path: path, cause: error)
            }
            return false
        }
    }

    /// Removes the container that this import made; returns whether it is gone completely.
    private func unmakeContainer(_ lock: ContainerLock) throws -> Bool {
        // Only the bookkeeping knows what is beside the container.
        guard try StagingDirectory.tokenOfLeftovers(of: lock) == nil else { return false }
        try withdraw(in: lock.directory)
        let parent = try FileDescriptor.open(path.parent, .directory)
        let identity = try lock.root.descriptor.status().identity
        guard try parent.status(of: path.lastComponent).identity == identity else { return false }
        try parent.removeDirectory(path.lastComponent)
        try parent.synchronize()
        return true
    }

    func openReader(_ input: ArchiveInput) throws -> ArchiveReader {
        let reader = try ArchiveReader(
            input,
            access: .whole,
            foreignMetadata: options.extraMetadata
        )
        try checkKind(of: reader)
        try checkHeader(reader.header)
        // A pipe has no fingerprint before it is read to its end.
        if input.size != nil { try checkProof(reader.header, reader.fingerprint) }
        return reader
    }

    /// Refuses required times that the container's file system can't hold, before anything is staged;
    /// those in a stream are known only when it is read.
    private func checkTimes() throws {
        guard options.isStrict, source.path != nil else { return }
        var rules = ArchiveExtractor.Options()
        rules.requiresTimes = true
        rules.times = try StorableTimes(in: FileDescriptor.open(path.parent, .directory))
        let reader = try ArchiveReader(source.open(operation), access: .comparing)
        while let entry = try reader.next() {
            try operation.check()
            _ = try rules.changedTime(of: entry)
        }
    }

    /// Records in the container that an import begins, and reserves space to record a failure.
    private func begin(in target: Target) throws -> RecordReserve {
        let bookkeeping = try BookkeepingDirectory.make(in: target.lock.directory)
        let journal = ImportJournal(phase: .staging, record: nil, staging: target.token.text)
        try journal.write(to: bookkeeping)
        return try RecordReserve.make(in: bookkeeping)
    }
}

// MARK: - Staging

extension ImportOperation {
    /// Stages the data of `reader` beside the container, and commits it.
    private func restore(
        _ reader: ArchiveReader,
        beside target: Target
    ) throws -> ImportReport {
        let lock = target.lock
        let bookkeeping = try BookkeepingDirectory.make(in: lock.directory)
        let staging = try StagingDirectory.make(for: lock, token: target.token)
        defer { staging.release() }
        do {
            let space = try staging.directory.descriptor.availableSpace()
            try checkSpace(for: reader, available: space)
            let (extractor, sessionReport) = try fill(staging, of: target, from: reader)
            let commit = ContainerCommit(
                live: lock,
                staging: staging,
                record: try record(of: reader, restoredBy: extractor, in: target),
                reserve: target.reserve,
                kept: target.kept
            )
            try source.command?.finish(operation)
            try operation.check()
            try target.kept?.check(for: container.place)
            let leftovers = try commit.run()
            return report(on: reader, extractor, sessionReport, target, leftovers: leftovers)
        } catch {
            // A commit that could not be undone needs the staged data when it is resumed.
            if (try? ImportJournal.read(from: bookkeeping))?.phase == .staging {
                // Best effort; the next command removes the rest.
                try? staging.remove()
            }
            throw error
        }
    }

    private func report(
        on reader: ArchiveReader,
        _ extractor: ArchiveExtractor,
        _ sessionReport: (any Sendable)?,
        _ target: Target,
        leftovers: [MigrationError]
    ) -> ImportReport {
        let totals = extractor.totals(by: reader)
        var report = ImportReport(of: reader, restoredBy: extractor, totals: totals)
        report.sessionReport = sessionReport
        for omission in importer?.omissions ?? [] { report.omissions.append(omission) }
        report.leftovers = leftovers
        report.replaced = target.replaced
        report.keptPath = target.kept?.path.bytes
        return report
    }

    /// Makes the staged container from the archive.
    private func fill(
        _ staging: StagingDirectory,
        of target: Target,
        from reader: ArchiveReader
    ) throws -> (extractor: ArchiveExtractor, sessionReport: (any Sendable)?) {
        guard let importer else {
            return (try extract(reader, into: staging.directory, of: target), nil)
        }
        return try importer.fill(
            staged(staging, target.lock.root),
            from: reader.header,
            of: options.source
        ) { try extract(reader, into: $0, of: target) }
    }

    private func staged(_ staging: StagingDirectory, _ root: OpenFile) -> StagedImport {
        StagedImport(staging: staging, container: container, root: root, operation: operation)
    }

    /// Asks the importer before anything is extracted, so that one that can't import fails early.
    ///
    /// Its scratch container is then deleted: no extension may see the archive's data before the archive is
    /// proved complete.
    private func ask(
        _ importer: any ContainerImporter,
        beside target: Target
    ) throws {
        let staging = try StagingDirectory.make(for: target.lock, token: target.token)
        defer {
            // Best effort; making the next staging directory removes the rest or fails.
            try? staging.remove()
            staging.release()
        }
        try importer.ask(in: staged(staging, target.lock.root))
    }

    private func extract(
        _ reader: ArchiveReader,
        into directory: OpenFile,
        of target: Target
    ) throws -> ArchiveExtractor {
        var extraction = try ArchiveExtractor.Options(options, for: reader, in: directory)
        extraction.owner = try FileOwner(servedIn: target.lock.root.descriptor)
        if importer == nil {
            extraction.reserved = ContainerLayout.ownNames.map { EntryPath(bytes: $0) }
            let platform = reader.header?.platform.lowercased()
            if platform == MigrationPlatform.iOS.rawValue.lowercased() {
                extraction.recreated = ContainerSelection.directoriesOfApple.map {
                    EntryPath(bytes: $0)
                }
            }
        }
        let extractor = try ArchiveExtractor.restore(reader, in: directory, options: extraction)
        try checkRestored(extractor, from: reader, replacesData: target.replaced != nil)
        return extractor
    }
}

// MARK: - The record

extension ImportOperation {
    /// The record of a success.
    private func record(
        of reader: ArchiveReader,
        restoredBy extractor: ArchiveExtractor,
        in target: Target
    ) throws -> ImportRecord {
        var record = record(of: .success, in: target)
        record.fingerprint = reader.fingerprint?.description
        record.changedTimes = extractor.tally.changedTimeCount
        // It was checked when the import began.
        record.activity = try? reader.header?.resumeActivity
        record.container = try identity(importing: reader.header)
        record.keptPath = target.kept?.path.bytes
        return record
    }

    /// The record of `outcome`, with the source as passed to the importer, which may differ from
    /// the archive's header.
    private func record(of outcome: ImportRecord.Outcome, in target: Target) -> ImportRecord {
        let (source, header) = (options.source, target.reader?.header)
        return ImportRecord(
            outcome: outcome,
            bundleIdentifier: source.bundleIdentifier ?? header?.bundleIdentifier,
            platform: source.platform?.rawValue ?? header?.platform,
            resourcesVersion: source.version ?? header?.resourcesVersion,
            staging: target.token.text
        )
    }

    /// Whether the import was refused rather than failed: the caller can change the request, and
    /// the record of an earlier import stays.
    private static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? ArchiveError { return error.isAboutKey }
        guard let error = error as? MigrationError else { return false }
        switch error.code {
        case .confinementUnavailable, .containerBusy, .containerHoldsData, .entitlementInvalid,
            .extensionUnsuitable, .fingerprintMismatch, .identifierMismatch, .invalidOption,
            .pathNeedsEncoding, .signatureInvalid, .signingFailed:
            return true
        default: return false
        }
    }

    /// Removes the record that an import began from the locked directory.
    private func withdraw(in root: OpenFile) throws {
        guard let bookkeeping = try BookkeepingDirectory(in: root),
            try ImportJournal.read(from: bookkeeping)?.phase == .staging
        else { return }
        try RecordReserve.remove(from: bookkeeping)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        try bookkeeping.removeIfEmpty(from: root)
    }

    /// Records the failure of the import in the locked directory, beside the record of the import
    /// that made its data.
    private func recordFailure(_ error: any Error, in target: Target) throws {
        let bookkeeping = try BookkeepingDirectory.make(in: target.lock.directory)
        let journal = try ImportJournal.read(from: bookkeeping)
        // The next command continues a commit that could not be undone; it has not failed yet.
        guard journal == nil || journal?.phase == .staging else { return }
        let isInterruption = error is CancellationError
        let outcome = isInterruption ? .interrupted : ImportRecord.Outcome(failure: error)
        let attempt = record(of: outcome, in: target)
        try ImportRecordFile(in: bookkeeping).write(attempt, using: target.reserve)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }

    /// Adds the container to errors that name only a system call.
    private func located(_ error: any Error) -> any Error {
        guard let error = error as? SystemError else { return error }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "the import failed", path: path, cause: error)
    }
}
