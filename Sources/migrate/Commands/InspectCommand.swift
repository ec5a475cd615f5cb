import MigrationCore

/// `migrate inspect`: what an archive is.
struct InspectCommand: Command {
    static let description = CommandDescription(
        name: "inspect",
        abstract: "Show what an archive is: app, platform, sizes, fingerprint.",
        arguments: [.archive],
        options: [.json]
    )

    let archive: ArchiveName
    let answersInJSON: Bool

    var isForItsAnswer: Bool { true }

    var subject: String { archive.sourceText }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let inspection = try await archive.source(console: context.console).inspect()
        let answer = InspectionAnswer(archive, inspection)
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}
