internal import IPhoneBackups
internal import MigrationArchive
internal import MigrationSystem

/// `migrate ios apps`: lists the apps of a backup of an iPhone, and the containers that it holds.
struct IOSAppsCommand: Command {
    private var backup: BytePath = ""
    private var access = IPhoneBackupFlags()
    private var allowsUnfinished = false
    private var answersInJSON = false

    static let name = "ios apps"
    static let abstract = "List the apps, groups and plugins in a backup of an iPhone or iPad."

    static var arguments: [Argument<Self>] { [.iPhoneBackup(to: \.backup)] }

    static var flags: [Flag<Self>] {
        IPhoneBackupFlags.included(at: \.access)
        Flag.allowUnfinished(sets: \.allowsUnfinished)
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example("List the apps whose data a backup holds.", "migrate ios apps backup"),
        Example(
            "List those of an encrypted backup.",
            "migrate ios apps backup --password-file password"
        ),
        Example(
            "Print the identifiers of apps with data.",
            "migrate ios apps backup --json | jq -r '.apps[] | select(.hasData).id'"
        ),
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(backup) }

    func operation(endedBy error: any Error) -> ErrorMessage.Operation {
        ErrorMessage.Operation(
            name: Self.name,
            subject: subject,
            hint: IPhoneBackupFlags.hint(for: error)
        )
    }

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
        try console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}

/// The answer of `migrate ios apps`.
struct IOSAppsAnswer: Answer {
    let schema = "migrate/ios-apps/1"
    let apps: [Container]
    let groups: [Container]
    let plugins: [Container]
    let warnings: [String]

    /// A container in JSON.
    struct Container: Encodable, Sendable {
        let bytes: UInt64
        let files: UInt64
        let hasData: Bool
        let id: String
        let name: String?
        let version: String?
    }

    private enum CodingKeys: String, CodingKey {
        case apps, groups, plugins, warnings
    }

    init(_ contents: BackupContents, warnings: [String]) {
        apps = Self.containers(.app, in: contents)
        groups = Self.containers(.group, in: contents)
        plugins = Self.containers(.plugin, in: contents)
        self.warnings = warnings
    }

    private static func containers(
        _ kind: Domain.Kind,
        in contents: BackupContents
    ) -> [Container] {
        contents.containers(kind).map { container in
            Container(
                bytes: container.bytes,
                files: container.files,
                hasData: container.hasData,
                id: container.identifier,
                name: container.name,
                version: container.version
            )
        }
    }

    var text: String {
        let note =
            groups.isEmpty
            ? "" : "A backup doesn't say whose a group is: choose it with --app-group.\n"
        return Self.section("apps", apps) + Self.section("groups", groups)
            + Self.section("plugins", plugins) + note
    }

    private static func section(_ title: String, _ containers: [Container]) -> String {
        guard !containers.isEmpty else { return "" }
        let lines = containers.map { container in
            let identifier = PrintableText.escaping(container.id)
            let facts = [
                container.name.map { PrintableText.escaping($0) },
                container.version.map { PrintableText.escaping($0) },
                container.hasData
                    ? GroupedCount(container.files).of("file", "files")
                        + ", \(ByteCount(container.bytes))" : "no data",
            ]
            return "  \(identifier): \(facts.compactMap(\.self).joined(separator: ", "))\n"
        }
        return "\(title)\n" + lines.joined()
    }
}
