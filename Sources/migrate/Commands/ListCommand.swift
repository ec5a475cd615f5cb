import AndroidMigration
import MigrationCore

/// `migrate list`: the entries of an archive.
struct ListCommand: Command {
    static let description = CommandDescription(
        name: "list",
        abstract: "List the entries of an archive, as 'tar -tv' does.",
        arguments: [.archive],
        options: DecryptionOptions.descriptions + [.passwordFile, .json]
    )

    let archive: ArchiveName
    let backup: AndroidBackup
    let answersInJSON: Bool

    var isForItsAnswer: Bool { true }

    var subject: String { archive.sourceText }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        backup = try AndroidBackup(archive, arguments)
        answersInJSON = arguments.has("json")
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let rows = RowOutput(to: context.console.output, inJSON: answersInJSON)
        try rows.begin()
        let inspection = try await BackupOperations.inspect(
            archive.source(console: context.console),
            at: backup.place(on: context.console),
            spoolingTo: TemporaryDirectory.path
        ) { entry in
            try rows.write(EntryRow(entry))
        }
        try rows.end()
        switch inspection {
        case .archive(let inspection):
            context.console.logMissingProof(of: archive, inspection)
            return .success
        case .backup(let summary):
            for loss in summary.lost {
                context.console.log("migrate: warning: lost: \(loss.path) (\(loss.reason))")
            }
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}
