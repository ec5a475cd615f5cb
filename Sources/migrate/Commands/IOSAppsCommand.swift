internal import IPhoneBackups
internal import MigrationReports
internal import MigrationSystem

/// `migrate ios apps`: lists the apps of a backup of an iPhone, and the containers that it holds.
struct IOSAppsCommand: Command {
    private var backup: BytePath = ""
    private var access = IPhoneBackupFlags()
    private var allowsUnfinished = false
    var common = CommonOptions()

    static let name = "ios apps"
    static let abstract = "List the apps, groups and plugins in a backup of an iPhone or iPad."

    static var arguments: [Argument<Self>] { [.iPhoneBackup(to: \.backup)] }

    static var flags: [Flag<Self>] {
        IPhoneBackupFlags.included(at: \.access)
        Flag.allowUnfinished(sets: \.allowsUnfinished)
        Flag.json
    }

    static let examples: Examples = [
        "List the apps whose data a backup holds.": "migrate ios apps backup",
        "List those of an encrypted backup.": "migrate ios apps backup --password-file password",
        "Print the identifiers of apps with data.":
            "migrate ios apps backup --json | jq -r '.apps[] | select(.hasData).id'",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(backup) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        var options = access.options(on: console)
        options.allowsUnfinished = allowsUnfinished
        let (contents, warnings) = try await IPhoneBackupOperations.contents(
            of: backup,
            options: options
        )
        for warning in warnings { console.log("migrate: warning: \(warning)") }
        let answer = IOSAppsAnswer(contents, warnings: warnings, .ofFlags)
        try common.answer(with: answer, on: console)
        return .success
    }
}
