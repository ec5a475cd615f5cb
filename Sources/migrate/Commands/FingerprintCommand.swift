internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// `migrate fingerprint`: computes the fingerprint that an archive of a container would have.
struct FingerprintCommand: Command {
    private(set) var container: BytePath = ""
    private var content = ContentFlags()
    var common = CommonOptions()

    static let name = "fingerprint"
    static let abstract = "Compute the fingerprint that an archive of a container would have."

    static var flags: [Flag<Self>] {
        Flag.container(to: \.container)
        ContentFlags.included(at: \.content)
        Flag.verbose
        Flag.json
        Flag.progress
        Flag.wait
        ContentFlags.threads.included(at: \.content)
    }

    static let examples: Examples = [
        "Compute the fingerprint of a container.": "migrate fingerprint --container notes",
        "Compute it without some files.": "migrate fingerprint -c notes --exclude '*.tmp'",
        "Compute it of what the app's own extension chooses.":
            "migrate fingerprint -c notes --extension ./NotesMigration",
    ]

    mutating func check() throws(UsageError) {
        try content.check()
    }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try content.source(container)
        let options = try content.options()
        let report = try await content.export(
            source,
            options,
            for: .fingerprint,
            nil,
            common,
            on: console
        )
        try common.answer(with: FingerprintAnswer(report), on: console)
        try console.logFindings(of: report.appExtension)
        return .success
    }
}
