internal import IPhoneBackups
internal import MigrationArchive
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
        let answer = IOSAppsAnswer(contents, warnings: warnings)
        try common.answer(with: answer, on: console)
        return .success
    }
}

// MARK: - Answer

/// The answer of `migrate ios apps`.
struct IOSAppsAnswer: Answer, JSONObject {
    let schema = "migrate/ios-apps/1"
    private let contents: BackupContents
    private let warnings: [String]

    init(_ contents: BackupContents, warnings: [String]) {
        (self.contents, self.warnings) = (contents, warnings)
    }

    var members: JSONMembers {
        [
            "apps": members(of: .app), "groups": members(of: .group),
            "plugins": members(of: .plugin), "warnings": warnings,
        ]
    }

    private func members(of kind: Domain.Kind) -> [JSONMembers] {
        contents.containers(kind).map { container in
            [
                "bytes": container.bytes, "files": container.files, "hasData": container.hasData,
                "id": container.identifier, "name": container.name, "version": container.version,
            ]
        }
    }

    var text: String {
        let note =
            contents.containers(.group).isEmpty
            ? "" : "A backup doesn't say whose a group is: choose it with --app-group.\n"
        return section("apps", .app) + section("groups", .group) + section("plugins", .plugin)
            + note
    }

    private func section(_ title: String, _ kind: Domain.Kind) -> String {
        let lines = contents.containers(kind).map { container in
            let size =
                GroupedCount(container.files).of("file", "files")
                + ", \(ByteCount(container.bytes))"
            let facts = [
                container.name.map { PrintableText.escaping($0) },
                container.version.map { PrintableText.escaping($0) },
                container.hasData ? size : "no data",
            ]
            return "  \(PrintableText.escaping(container.identifier)): "
                + facts.compactMap(\.self).joined(separator: ", ") + "\n"
        }
        return lines.isEmpty ? "" : "\(title)\n" + lines.joined()
    }
}
