import MigrationCore

/// `migrate list`: the entries of an archive.
struct ListCommand: Command {
    static let description = CommandDescription(
        name: "list",
        abstract: "List the entries of an archive, as 'tar -tv' does.",
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
        let rows = RowOutput(to: context.console.output, inJSON: answersInJSON)
        try rows.begin()
        let inspection = try await archive.source(console: context.console).forEachEntry { entry in
            try rows.write(EntryRow(entry))
        }
        try rows.end()
        context.console.logMissingProof(of: archive, inspection)
        return .success
    }
}
