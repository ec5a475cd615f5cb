import MigrationArchive
import MigrationCore

/// `migrate import`: one archive into one container, whole or not at all.
struct ImportCommand: Command {
    static let description = CommandDescription(
        name: "import",
        abstract: "Import an archive into a container, whole or not at all.",
        arguments: [.archive],
        options: [
            .container("The container, which holds no data yet; it is made if it is missing."),
            OptionDescription(name: "replace", help: "Replace a container that holds data."),
            .bundleIdentifier("The bundle identifier of the app whose container it is."),
            .externalLinks,
            .threads,
            .json,
            .progress,
        ]
    )

    let archive: ArchiveName
    let container: [UInt8]
    let bundleIdentifier: String?
    let options: ImportOptions
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        guard let error = error as? ArchiveError, error.isOfOutput else { return subject }
        return PrintableText.escaping(container)
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        container = try arguments.path("container")
        bundleIdentifier = try arguments.text("bundle-id")
        var options = ImportOptions()
        options.replacesData = arguments.has("replace")
        options.externalLinks = try arguments.externalLinks
        options.threadCount = try arguments.threads
        self.options = options
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let destination = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        let report = try await ProgressDisplay.showing(progress, on: context.console) { progress in
            try await MigrationHost().importArchive(
                source,
                into: destination,
                options: options,
                progress: progress
            )
        }
        if report.fingerprint == nil { context.console.logMissingFingerprint(of: archive) }
        let answer = ImportAnswer(archive, verb: "imported", into: container, report)
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}

extension Console {
    /// Says that an archive of another program proves nothing.
    func logMissingFingerprint(of archive: ArchiveName) {
        log(
            "migrate: note: \(archive.sourceText) carries no fingerprint: "
                + "nothing proves that it is complete"
        )
    }
}
