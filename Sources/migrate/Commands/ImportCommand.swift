import AndroidMigration
import MigrationArchive
import MigrationCore

/// `migrate import`: one archive into one container, whole or not at all.
struct ImportCommand: LockingCommand {
    static let description = CommandDescription(
        name: "import",
        abstract: "Import an archive into a container, whole or not at all.",
        arguments: [.archive],
        options: [
            .container("The container, which holds no data yet; it is made if it is missing."),
            OptionDescription(name: "replace", help: "Replace a container that holds data."),
            OptionDescription(
                name: "allow-incomplete",
                help: "Let another program's tar file replace data though nothing in it can be "
                    + "restored or it has no end mark."
            ),
            .bundleIdentifier("The bundle identifier of the app whose container it is."),
            .appIdentity,
            .externalLinks,
            .appExtension(
                "The app's own extension, which puts the data where the app wants it; without "
                    + "it, everything is put back at its path."
            ),
        ] + SourceOptions.descriptions + OptionDescription.extensionTerms
            + [SignatureOptions.requirement] + SignatureOptions.descriptions
            + DecryptionOptions.descriptions + [
                .wait,
                .threads,
                .json,
                .progress,
            ]
    )

    let archive: ArchiveName
    let container: [UInt8]
    let bundleIdentifier: String?
    let appExtension: ExtensionOptions?
    let options: ImportOptions
    let waitLimit: Duration
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(container) : subject
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        container = try arguments.path("container")
        bundleIdentifier = try arguments.text("bundle-id")
        appExtension = try arguments.appExtension
        var options = ImportOptions()
        options.replacesData = arguments.has("replace")
        options.allowsIncomplete = arguments.has("allow-incomplete")
        options.externalLinks = try arguments.externalLinks
        options.threadCount = try arguments.threads
        options.importer = try arguments.appIdentity?.description
        options.source = try SourceOptions.read(arguments)
        options.requiredSignature = try SignatureOptions.read(archive, arguments)
        self.options = options
        waitLimit = try arguments.waitLimit
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try archive.source(console: console)
        let destination = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        let report = try await report(source, into: destination, on: console)
        console.logMissingProof(of: archive, report)
        console.logLeftovers(of: report)
        let answer = ImportAnswer(archive, verb: "imported", into: container, report)
        try console.output.write(answer, inJSON: answersInJSON)
        try console.logFindings(of: report.appExtension)
        return .success
    }

    private func report(
        _ source: ArchiveSource,
        into destination: MigrationDataContainer,
        on console: Console
    ) async throws -> ImportReport {
        do {
            return try await ProgressDisplay.showing(progress, on: console) { progress in
                try await host(on: console).importArchive(
                    source,
                    into: destination,
                    using: appExtension?.hosted(on: console, to: .import),
                    options: options,
                    progress: progress
                )
            }
        } catch let error as MigrationError where error.code == .invalidOption {
            // Of all that can be given, only the source is missing rather than wrong.
            guard error.path == nil else { throw error }
            throw UsageError("\(error.message); \(SourceOptions.hint)")
        }
    }
}
