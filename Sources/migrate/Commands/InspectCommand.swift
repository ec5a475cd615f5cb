internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate inspect`: shows the properties of an archive.
struct InspectCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var backup = BackupFlags()
    var common = CommonOptions()

    static let name = "inspect"
    static let abstract = "Show what an archive is: app, platform, sizes, fingerprint."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    static var flags: [Flag<Self>] {
        DecryptionFlags.included(at: \.keys)
        BackupFlags.passwordFile.included(at: \.backup)
        BackupFlags.sizeFlags.map { $0.included(at: \.backup) }
        Flag.json
    }

    static let examples: Examples = [
        "Show what an archive is.": "migrate inspect notes.tar.zst",
        "Show an encrypted archive.": "migrate inspect notes.tar.zst.age --identity key.txt",
        "Print the fingerprint alone.": "migrate inspect notes.tar.zst --json | jq -r .fingerprint",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let inspection = try await BackupOperations.inspect(
            archive.source(on: console, keys: keys),
            at: backup.place(of: archive, on: console),
            spoolingTo: Environment.temporaryDirectory
        )
        switch inspection {
        case .archive(let inspection):
            let answer = InspectionAnswer(archive, inspection: inspection)
            try common.answer(with: answer, on: console)
            return .success
        case .backup(let summary):
            let answer = BackupAnswer(archive, summary: summary)
            try common.answer(with: answer, on: console)
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}
