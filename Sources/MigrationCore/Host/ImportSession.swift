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
        let threadCount = ThreadCount.resolve(options.threadCount)
        let input = try source.open(cancellation)
        let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
        progress?.setTotal(Int64(clamping: input.size ?? 0))
        try checkBeforehand(reader.header)
        try makeContainer()
        let lock = try wait.lock(path)
        defer { lock.release() }
        try ContainerRecovery.recover(path, root: lock.root)
        try wait.untilFree(path) { () throws(MigrationError) in try checkStagingIsFree() }
        let holdsData = try ContainerContents.holdsData(lock.root, at: path)
        guard !holdsData || options.replacesData else {
            let message = "the container holds data; it is replaced only on request"
            throw MigrationError(.containerHoldsData, message, path: path.path)
        }
        var reserve: RecordReserve?
        do {
            reserve = try begin(in: lock.root)
            let outcome = try restore(reader, beside: lock.root, replacingData: holdsData)
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
            totals: totals,
            omissions: omissions,
            leftovers: outcome.leftovers,
            replacedData: replacedData,
            appExtension: outcome.appExtension
        )
    }
}
