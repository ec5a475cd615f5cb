internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate android preview`: shows the data that an Android app hands over according to its rules.
struct AndroidPreviewCommand: Command {
    private var rules: BytePath = ""
    private var section = RuleSection.crossPlatform
    private var manifest: BytePath?
    private var data = AndroidDataFlags()
    private var canEncrypt = true
    var common = CommonOptions()

    static let name = "android preview"
    static let abstract =
        "Show the data that an Android app hands over, and where an app on iOS receives it."

    static var arguments: [Argument<Self>] { [.rules(to: \.rules)] }

    static var flags: [Flag<Self>] {
        AndroidDataFlags.data.required.included(at: \.data)
        AndroidDataFlags.flagsOfData.map { $0.included(at: \.data) }
        Flag("section", value: "name", as: .choice, to: \.section)
            .help("The transfer: 'cross-platform', the default, 'cloud', 'device' or 'legacy'.")
            .about(.container)
        Flag.androidManifest(to: \.manifest)
        Flag("no-encryption", sets: \.canEncrypt, to: false)
            .help("Assume a transport that can't encrypt on the device.")
            .about(.container)
        Flag.json
    }

    static let examples: Examples = [
        "Show the data that an app hands over to iOS.":
            "migrate android preview rules.xml --data notes",
        "Show the data that a backup in the cloud holds.":
            "migrate android preview rules.xml --data notes --section cloud",
        "Read the data out of a backup.":
            "migrate android preview rules.xml --data notes.ab --password-file password",
    ]

    var subject: String { PrintableText.escaping(rules) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let answer = PreviewAnswer(
            of: try RulesFile.read(rules),
            named: subject,
            section: section,
            manifest: try manifest.map { try AppManifest.read($0) },
            tree: try await data.tree(on: context.console) ?? DataTree(),
            canEncrypt: canEncrypt
        )
        try common.answer(with: answer, on: context.console)
        return answer.isSuccess ? .success : .findings
    }
}
