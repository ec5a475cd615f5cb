internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate status`: shows how the last import into a container ended.
struct StatusCommand: Command {
    private var container: BytePath = ""
    private var clearsStatus = false
    var common = CommonOptions()

    static let name = "status"
    static let abstract = "Show the import status as the app will see it."

    static var flags: [Flag<Self>] {
        Flag.container(help: "The container.", to: \.container)
        Flag("clear", sets: \.clearsStatus).help("Clear the status first.")
        Flag.json
    }

    static let examples: Examples = [
        "Show how the last import ended.": "migrate status --container notes",
        "Print it for a program.": "migrate status -c notes --json",
        "Clear it, as the app does once it has read it.": "migrate status -c notes --clear",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        if clearsStatus { try container.clearImportRecord() }
        let answer = StatusAnswer(
            try container.importRecord(),
            attempt: try container.lastImportAttempt(),
            readDate: try container.importRecordReadDate()
        )
        try common.answer(with: answer, on: context.console)
        return clearsStatus ? .success : answer.exitCode
    }
}

extension StatusAnswer {
    fileprivate var exitCode: ExitCode {
        switch status {
        case .success: .success
        case .failure: .importFailed
        case .interrupted: .importInterrupted
        case .none: .noImport
        }
    }
}
