internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate recover`: completes an interrupted import or rolls it back.
struct RecoverCommand: Command {
    private var container: BytePath = ""
    private var discards = false
    var common = CommonOptions()

    static let name = "recover"
    static let abstract = "Complete an interrupted import, or roll it back."

    static var flags: [Flag<Self>] {
        Flag.container(help: "The container, which must not be in use.", to: \.container)
        Flag("discard", sets: \.discards)
            .help("Give up an import that can't be completed or understood; all data is kept.")
        Flag.json
    }

    static let examples: Examples = [
        "Complete an interrupted import, or roll it back.": "migrate recover --container notes",
        "Give up an import that can't be completed.": "migrate recover -c notes --discard",
        "Print what was done for a program.": "migrate recover -c notes --json",
    ]

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        let report = try MigrationHost().recover(container, discards: discards)
        let answer = RecoverAnswer(
            report,
            of: container.place.path,
            problem: report.problem.map { ErrorMessage($0).description },
            .ofFlags
        )
        try common.conclude(with: answer, on: context.console)
        return .success
    }
}
