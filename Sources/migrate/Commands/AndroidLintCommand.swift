import AndroidMigration
import MigrationArchive

/// `migrate android lint`: what is wrong with an Android app's backup rules.
struct AndroidLintCommand: Command {
    static let description = CommandDescription(
        name: "android lint",
        abstract: "Look for mistakes in the backup rules of an Android app.",
        arguments: [.rules],
        options: [
            .androidManifest, .androidData,
        ] + AndroidData.options + [
            .json,
            OptionDescription(
                name: "github",
                help: "Answer with annotations for a workflow on GitHub.",
                rival: "json"
            ),
        ]
    )

    let rules: [UInt8]
    let manifest: [UInt8]?
    let data: AndroidData?
    let answersInJSON: Bool
    let answersInAnnotations: Bool

    var subject: String { PrintableText.escaping(rules) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        rules = try arguments.path(at: 0, "rules")
        manifest = try arguments.optionalPath("manifest")
        data = try AndroidData(arguments)
        answersInJSON = arguments.has("json")
        answersInAnnotations = arguments.has("github")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let lint = RulesLint.check(
            try InputFile.read(rules),
            manifest: try manifest.map { try AppManifest(InputFile.read($0)) },
            tree: try await data?.tree(context)
        )
        let answer = LintAnswer(file: subject, lint.findings)
        if answersInAnnotations {
            try context.console.output.write(answer.annotations)
        } else {
            try context.console.output.write(answer, inJSON: answersInJSON)
        }
        if lint.findings.contains(where: { $0.code == .notRulesFile }) { return .badArchive }
        return lint.hasErrors ? .findings : .success
    }
}
