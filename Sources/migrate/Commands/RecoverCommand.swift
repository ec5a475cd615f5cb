internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate recover`: completes an interrupted import or rolls it back.
struct RecoverCommand: Command {
    private var container: BytePath = ""
    private var discards = false
    private var answersInJSON = false

    static let name = "recover"
    static let abstract = "Complete an interrupted import, or roll it back."

    static var flags: [Flag<Self>] {
        Flag.container(help: "The container, which must not be in use.", to: \.container)
        Flag("discard", sets: \.discards)
            .help("Give up an import that can't be completed or understood; all data is kept.")
        Flag.json(sets: \.answersInJSON)
    }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        let report = try MigrationHost().recover(container, discards: discards)
        try context.console.output.write(RecoverAnswer(report), inJSON: answersInJSON)
        return .success
    }
}

// MARK: - Answer

/// The answer of `migrate recover`.
struct RecoverAnswer: Answer {
    let recovery: String
    var problem: String?
    var kept: [String]

    init(_ report: RecoveryReport) {
        recovery = report.outcome.rawValue
        problem = report.problem.map { ErrorMessage($0).description }
        kept = report.kept
    }

    var text: String {
        let first =
            switch recovery {
            case RecoveryReport.Outcome.nothing.rawValue: "nothing to recover"
            case RecoveryReport.Outcome.rolledBack.rawValue:
                "rolled back: the container holds what it held before the import"
            case RecoveryReport.Outcome.completed.rawValue:
                "completed: the container holds what was being imported"
            default: "discarded" + (problem.map { ": " + $0 } ?? "")
            }
        return ([first] + kept.map { "kept  " + $0 }).joined(separator: "\n") + "\n"
    }
}
