internal import AndroidMigration
internal import MigrationArchive
internal import MigrationReports
internal import MigrationSystem

/// `migrate android lint`: finds mistakes in the backup rules of an Android app.
struct AndroidLintCommand: Command {
    private var rules: BytePath = ""
    private var manifest: BytePath?
    private var data = AndroidDataFlags()
    private var answersInAnnotations = false
    private var showsNotes = false
    var common = CommonOptions()

    static let name = "android lint"
    static let abstract = "Look for mistakes in the backup rules of an Android app."

    static var arguments: [Argument<Self>] { [.rules(to: \.rules)] }

    private static let json = Flag<Self>.json

    static var flags: [Flag<Self>] {
        Flag.androidManifest(to: \.manifest)
        AndroidDataFlags.included(at: \.data)
        Flag("notes", sets: \.showsNotes)
            .help("Show notes too, which need no change; JSON always includes them.")
        json
        Flag("github", sets: \.answersInAnnotations)
            .help("Answer with annotations for a workflow on GitHub.")
            .about(.running)
            .excluding(json)
    }

    static let examples: Examples = [
        "Look for mistakes in backup rules.": "migrate android lint data_extraction_rules.xml",
        "Look at the app's manifest and its data, too.":
            "migrate android lint rules.xml --manifest AndroidManifest.xml --data notes",
        "Annotate a pull request on GitHub.": "migrate android lint rules.xml --github",
    ]

    var subject: String { PrintableText.escaping(rules) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let lint = RulesLint.check(
            try InputFile.read(rules),
            named: RulesFile.name(of: rules),
            manifest: try manifest.map { try AppManifest.read($0) },
            tree: try await data.tree(on: context.console)
        )
        let answer = LintAnswer(
            file: subject,
            findings: lint.findings,
            showsNotes: showsNotes,
            .ofFlags
        )
        if answersInAnnotations {
            try context.console.output.write(answer.annotations(titled: "migrate \(Self.name)"))
        } else {
            try common.answer(with: answer, on: context.console)
        }
        if lint.findings.contains(where: { $0.code == .notRulesFile }) { return .badArchive }
        return lint.hasErrors ? .findings : .success
    }
}
