import MigrationArchive
import MigrationCore

/// `migrate status`: how the last import into a container ended.
struct StatusCommand: Command {
    static let description = CommandDescription(
        name: "status",
        abstract: "Show the import status as the app will see it.",
        options: [
            .container("The container."),
            OptionDescription(name: "clear", help: "Clear the status first."),
            .json,
        ]
    )

    let container: [UInt8]
    let clearsStatus: Bool
    let answersInJSON: Bool

    var isForItsAnswer: Bool { true }

    var subject: String { PrintableText.escaping(container) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        container = try arguments.path("container")
        clearsStatus = arguments.has("clear")
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        if clearsStatus { try container.clearImportRecord() }
        let answer = StatusAnswer(
            try container.importRecord(),
            read: try container.importRecordReadDate()
        )
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}
