import AndroidMigration
import MigrationCore

/// `migrate inspect`: what an archive is.
struct InspectCommand: Command {
    static let description = CommandDescription(
        name: "inspect",
        abstract: "Show what an archive is: app, platform, sizes, fingerprint.",
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
        let inspection = try await BackupOperations.inspect(
            archive.source(console: context.console),
            at: backup.place(on: context.console),
            spoolingTo: TemporaryDirectory.path
        )
        switch inspection {
        case .archive(let inspection):
            let answer = InspectionAnswer(archive, inspection)
            try context.console.output.write(answer, inJSON: answersInJSON)
            return .success
        case .backup(let summary):
            let answer = BackupAnswer(archive, summary)
            try context.console.output.write(answer, inJSON: answersInJSON)
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}
