internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// `migrate fingerprint`: computes the fingerprint that an archive of a container would have.
struct FingerprintCommand: LockingCommand {
    private(set) var container: BytePath = ""
    private(set) var waitLimit = Duration.zero
    private(set) var answersInJSON = false
    private(set) var progress = ProgressMode.auto
    private var content = ContentFlags()
    private var isVerbose = false

    static let name = "fingerprint"
    static let abstract = "Compute the fingerprint that an archive of a container would have."

    static var flags: [Flag<Self>] {
        Flag.container(
            help: "The container: a directory or an .xcappdata bundle.",
            to: \.container
        )
        ContentFlags.included(at: \.content)
        Flag.verbose(sets: \.isVerbose)
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progress)
        Flag.wait(to: \.waitLimit)
        ContentFlags.threads.included(at: \.content)
    }

    static let examples = [
        Example("Compute the fingerprint of a container.", "migrate fingerprint --container notes"),
        Example("Compute it without some files.", "migrate fingerprint -c notes --exclude '*.tmp'"),
        Example(
            "Compute it of what the app's own extension chooses.",
            "migrate fingerprint -c notes --extension ./NotesMigration"
        ),
    ]

    mutating func check(_ given: GivenFlags) throws(UsageError) {
        try content.check()
    }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try content.source(container)
        let options = try content.options()
        let report = try await ProgressDisplay.showing(progress, on: console) { progress in
            try await host(on: console).fingerprint(
                of: source,
                using: try content.appExtension.hosted(
                    on: console,
                    for: .export,
                    isVerbose: isVerbose
                ),
                options: options,
                progress: progress
            )
        }
        try console.output.write(FingerprintAnswer(report), inJSON: answersInJSON)
        try console.logFindings(of: report.appExtension)
        return .success
    }
}

// MARK: - Answer

/// The answer of `migrate fingerprint`.
struct FingerprintAnswer: Answer {
    let fingerprint: String
    let omissions: OmissionList
    let totals: ArchiveTotals

    init(_ report: ExportReport) {
        fingerprint = report.fingerprint.description
        omissions = report.omissions
        totals = report.totals
    }

    var schema: String { "migrate/fingerprint/1" }

    var text: String { "\(fingerprint)\n" }
}
