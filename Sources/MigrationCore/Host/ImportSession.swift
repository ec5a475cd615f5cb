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
    let wait: LockWait

    /// What an archive that became the container left to tell.
    typealias Outcome = (
        extractor: ArchiveExtractor,
        appExtension: ExtensionReport?,
        leftovers: [MigrationError]
    )

    var path: PathName { container.rootPath }

    func run() throws -> ImportReport {
        let input = try source.open(cancellation)
        progress?.setTotal(Int64(clamping: input.size ?? 0))
        try checkExtension()
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
            try checkStagingIsFree(lock.root)
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

    private func openReader(_ input: ArchiveInput) throws -> ArchiveReader {
        let threadCount = ThreadCount.resolve(options.threadCount)
        let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
        try checkKind(of: reader)
        try checkHeader(reader.header)
        // From a pipe it is known only when everything was read.
        if input.size != nil { try checkSignature(of: reader) }
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
