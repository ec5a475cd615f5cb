internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// A command that exports a container: into an archive, or into one on another host.
protocol ExportingCommand: RecordedCommand {
    /// Which of the container's data is exported.
    var content: ContentFlags { get }
}

extension ExportingCommand {
    /// Exports `source`; `record` notes what is exported, and the session of an extension.
    func export(
        _ source: MigrationDataContainer,
        _ options: ExportOptions,
        for purpose: ExportPurpose,
        _ record: OperationRecord? = nil,
        on console: Console
    ) async throws -> ExportReport {
        var options = options
        if case .fingerprint = purpose {
            options.entryHandler = nil
        } else {
            let log = console.entryLog(isVerbose: common.isVerbose)
            options.entryHandler = record?.entryHandler(besides: log) ?? log
        }
        return try await content.export(source, options, for: purpose, record, common, on: console)
    }

    /// Answers for an export that is done.
    func conclude(
        _ answer: ExportAnswer,
        isSkipped: Bool = false,
        in context: CommandContext
    ) throws {
        let (console, report) = (context.console.quieted(common.isQuiet), answer.report)
        context.outcome.note(
            fingerprint: report.fingerprint.description,
            bytes: report.totals.contentBytes,
            archiveBytes: report.archiveBytes,
            isSkipped: isSkipped
        )
        let stream = archive.isStandardStream ? console.errors : console.output
        if archive.isStandardStream, common.answersInJSON {
            // Standard error then holds one document, which includes everything in the lines.
            return try common.conclude(with: answer, on: console, stream)
        }
        console.logExternalLinks(of: report)
        try common.conclude(with: answer, on: console, stream)
        try console.logFindings(of: report.appExtension)
    }
}

// MARK: - Answer

/// The answer of `migrate export` and `migrate send`.
struct ExportAnswer: Answer, JSONObject {
    let archive: ArchiveName
    let report: ExportReport
    let isDryRun: Bool
    /// The fate of an archive that was sent to another host.
    let transfer: TransferAnswer?

    init(
        _ archive: ArchiveName,
        report: ExportReport,
        isDryRun: Bool = false,
        transfer: TransferAnswer? = nil
    ) {
        (self.archive, self.report, self.isDryRun) = (archive, report, isDryRun)
        self.transfer = transfer
    }

    var schema: String { "migrate/export/1" }

    private var command: CommandAnswer? { archive.command.map { CommandAnswer($0.result) } }

    var text: String {
        let (bytes, totals) = (report.archiveBytes, report.totals)
        let share = percentage(bytes, of: totals.contentBytes).map { " (\($0))" } ?? ""
        return
            "\(archive.destinationText): \(isDryRun ? "would hold " : "")\(TotalsText(totals)) in "
            + "\(ByteCount(bytes))\(share)\n" + (report.resumedBytes.map(resumption) ?? "")
            + "fingerprint \(report.fingerprint)\n"
            + (report.header.bundleIdentifier == nil ? Self.unnamed : "")
            + OmissionLines(title: "left out", omissions: report.omissions).text
            + (report.leftBehind.map { LeftBehindLines($0).text } ?? "")
            + (command?.text ?? "") + (transfer?.text ?? "")
    }

    private static let unnamed =
        "the archive names no app, since the container doesn't; name it with '--bundle-id'\n"

    private func resumption(_ resumedBytes: UInt64) -> String {
        transfer.map { $0.resumption(resumedBytes) }
            ?? "resumed behind \(ByteCount(resumedBytes)) that were written before\n"
    }

    var members: JSONMembers {
        [
            "appExtension": report.appExtension, "archive": archive.exact,
            "archiveBytes": report.archiveBytes, "command": command,
            "compressedStreamBytes": report.compressedStreamBytes,
            "externalLinkCount": report.externalLinkCount,
            "externalLinks": report.externalLinks.map {
                ["path": ExactName($0.path.bytes), "target": ExactName($0.target)] as JSONMembers
            },
            "fingerprint": report.fingerprint.description, "header": report.header,
            "isDryRun": isDryRun ? true : nil, "leftBehind": report.leftBehind,
            "omissions": report.omissions, "resumedBytes": report.resumedBytes,
            "streamBytes": report.streamBytes, "totals": report.totals, "transfer": transfer,
        ]
    }
}
