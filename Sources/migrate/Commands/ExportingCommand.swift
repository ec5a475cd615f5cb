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

    /// Writes the answer of a finished export.
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
