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

    static let examples = [
        Example(
            "Complete an interrupted import, or roll it back.",
            "migrate recover --container notes"
        ),
        Example("Give up an import that can't be completed.", "migrate recover -c notes --discard"),
        Example("Print what was done for a program.", "migrate recover -c notes --json"),
    ]

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
    private let report: RecoveryReport

    init(_ report: RecoveryReport) {
        self.report = report
    }

    var schema: String { "migrate/recover/1" }

    private var problem: String? { report.problem.map { ErrorMessage($0).description } }

    var text: String {
        let first =
            switch report.outcome {
            case .nothing: "nothing to recover"
            case .rolledBack: "rolled back: the container holds what it held before the import"
            case .completed: "completed: the container holds what was being imported"
            case .discarded: "discarded" + (problem.map { ": " + $0 } ?? "")
            }
        return ([first] + report.kept.map { "kept  " + $0 }).joined(separator: "\n") + "\n"
    }

    private enum CodingKeys: String, CodingKey {
        case kept, problem, recovery
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.keptPaths.map(EncodedPath.init), forKey: .kept)
        try container.encodeIfPresent(problem, forKey: .problem)
        try container.encode(report.outcome.rawValue, forKey: .recovery)
    }
}
