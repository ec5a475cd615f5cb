import MigrationArchive
import MigrationCore

/// `migrate recover`: an import that was cut off, brought to its end or given up.
struct RecoverCommand: Command {
    static let description = CommandDescription(
        name: "recover",
        abstract: "Bring an import that was cut off to its end, or give it up.",
        options: [
            .container("The container, which nobody may be using."),
            OptionDescription(
                name: "discard",
                help: "Give up what can't be understood or brought to its end; all data is kept."
            ),
            .json,
        ]
    )

    let container: [UInt8]
    let discards: Bool
    let answersInJSON: Bool

    var subject: String { PrintableText.escaping(container) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        container = try arguments.path("container")
        discards = arguments.has("discard")
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        let report = try MigrationHost().recover(container, discards: discards)
        try context.console.output.write(RecoverAnswer(report), inJSON: answersInJSON)
        return .success
    }
}

/// What `migrate recover` answers.
struct RecoverAnswer: Answer {
    let recovery: String
    var problem: String?
    var kept: [String]

    init(_ report: RecoveryReport) {
        recovery = report.outcome.rawValue
        problem = report.problem.map { ErrorText($0, from: nil).description }
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
