import AndroidMigration
import MigrationArchive

/// `migrate android preview`: what an Android app hands over by its rules.
struct AndroidPreviewCommand: Command {
    static let description = CommandDescription(
        name: "android preview",
        abstract: "Show what an Android app hands over, and where an app on iOS receives it.",
        arguments: [.rules],
        options: [
            OptionDescription.androidData.required
        ] + AndroidData.options + [
            OptionDescription(
                name: "section",
                help:
                    "Which transfer: 'cross-platform', the default, 'cloud', 'device' or 'legacy'.",
                valueName: "name",
                completion: .words(RuleSection.allCases.map(\.rawValue))
            ),
            .androidManifest,
            OptionDescription(
                name: "no-encryption",
                help: "Take the transport for one that can't encrypt on the client's side."
            ),
            .json,
        ]
    )

    let rules: [UInt8]
    let section: RuleSection
    let manifest: [UInt8]?
    let data: AndroidData?
    let canEncrypt: Bool
    let answersInJSON: Bool

    var subject: String { PrintableText.escaping(rules) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        rules = try arguments.path(at: 0, "rules")
        section = try arguments.choice("section", of: RuleSection.self) ?? .crossPlatform
        manifest = try arguments.optionalPath("manifest")
        data = try AndroidData(arguments)
        canEncrypt = !arguments.has("no-encryption")
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let preview = Preview(
            try RulesFile(InputFile.read(rules)),
            section: section,
            manifest: try manifest.map { try AppManifest(InputFile.read($0)) },
            tree: try await data?.tree(context) ?? DataTree(),
            canEncrypt: canEncrypt
        )
        let answer = PreviewAnswer(preview)
        try context.console.output.write(answer, inJSON: answersInJSON)
        return preview.isEligible ? .success : .failure
    }
}
