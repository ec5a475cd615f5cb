internal import MigrationArchive
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
        let answer = RecoverAnswer(report, of: container.place.path)
        try common.conclude(with: answer, on: context.console)
        return .success
    }
}

// MARK: - Answer

/// The answer of `migrate recover`.
struct RecoverAnswer: Answer, JSONObject {
    private let report: RecoveryReport
    private let container: BytePath

    init(_ report: RecoveryReport, of container: BytePath) {
        (self.report, self.container) = (report, container)
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
        let kept = report.kept.map { "kept  " + $0 }
        return (([first] + kept + wayBack).map { $0 + "\n" }).joined()
    }

    /// How to go back to the data that the last import replaced.
    private var wayBack: [String] {
        guard let replaced = report.replacedPath else { return [] }
        let place = PrintableText.escaping(replaced)
        return [
            "the data that the last import replaced is in \(place); to go back to it:",
            "  " + PrintableText.escaping(commandOfWayBack(to: replaced)),
        ]
    }

    private func commandOfWayBack(to replaced: [UInt8]) -> [UInt8] {
        let container = RemotePlace.quoting(container.bytes)
        let replaced = RemotePlace.quoting(replaced)
        guard report.isRenamable else {
            // A mount point can't be renamed.
            return [UInt8]("migrate export --container ".utf8) + replaced
                + [UInt8](" --out - | migrate import - --replace --container ".utf8) + container
        }
        let aside = RemotePlace.quoting(self.container.bytes + [UInt8](".imported".utf8))
        return [UInt8]("mv -T ".utf8) + container + [UInt8](" ".utf8) + aside
            + [UInt8](" && mv -T ".utf8) + replaced + [UInt8](" ".utf8) + container
    }

    var members: JSONMembers {
        let object = { (path: [UInt8]) in ["path": ExactName(path)] as JSONMembers }
        return [
            "kept": report.keptPaths.map(object), "problem": problem,
            "recovery": report.outcome.rawValue, "replaced": report.replacedPath.map(object),
        ]
    }
}
