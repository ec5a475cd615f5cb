/// The program's commands.
enum CommandCatalog {
    /// The commands by their purpose, in the order of the help page.
    private static let sections: [(title: String, commands: [any Command.Type])] = [
        (
            "Moving data",
            [
                ExportCommand.self, ImportCommand.self, PreflightCommand.self, SendCommand.self,
                ReceiveCommand.self,
            ]
        ),
        (
            "Archives",
            [
                InspectCommand.self, ListCommand.self, ExtractCommand.self, VerifyCommand.self,
                DiffCommand.self, ReportCommand.self, FingerprintCommand.self, SignCommand.self,
            ]
        ),
        ("Containers", [StatusCommand.self, RecoverCommand.self, RunCommand.self]),
        ("Stores", [StoreCheckCommand.self, StoreUpgradeCommand.self]),
        (
            "Android",
            [
                AndroidLintCommand.self, AndroidPreviewCommand.self, AndroidConvertCommand.self,
                AndroidManifestCommand.self,
            ]
        ),
        ("iPhone backups", [IOSAppsCommand.self, IOSConvertCommand.self]),
        ("This program", [CompletionsCommand.self, ManualCommand.self]),
    ]

    /// All commands, in the order of the help page.
    static let commands = sections.flatMap(\.commands)

    /// The commands as data, for help pages and completions.
    static let tree = CommandTree(
        abstract:
            "Move an app's data: export one container to a verified archive, and import it into "
            + "another.",
        sections: sections.map { section in
            CommandSection(
                title: section.title,
                commands: section.commands.map { $0.description }
            )
        },
        groups: [
            CommandGroup(
                name: "store",
                abstract: "Check and migrate an app's store when its format has changed."
            ),
            CommandGroup(
                name: "android",
                abstract: "Check the data that an Android app hands over, and convert its backups."
            ),
            CommandGroup(
                name: "ios",
                abstract: "Take an app's data out of a backup of an iPhone or iPad."
            ),
        ],
        examples: [
            "Export the container of an app into one verified file.":
                "migrate export --container notes --out notes.tar.zst",
            "Show what the file is.": "migrate inspect notes.tar.zst",
            "Import it where the app has no data yet.":
                "migrate import notes.tar.zst --container new-notes",
        ]
    )
}

/// The request that a command line makes.
enum Invocation: Sendable {
    case command(any Command)
    case help(CommandDescription)
    case programHelp
    case version

    /// Reads the words after the program's name.
    init(_ words: [[UInt8]]) throws(UsageError) {
        guard let first = words.first else { throw UsageError("a subcommand is missing") }
        let rest = Array(words.dropFirst())
        switch String(decoding: first, as: UTF8.self) {
        case "--version": self = .version
        case "--help", "-h": self = .programHelp
        case "help": self = try Self.help(about: rest)
        default: self = try Self.command(named: first, words: rest)
        }
    }

    private static func command(
        named name: [UInt8],
        words: [[UInt8]]
    ) throws(UsageError) -> Invocation {
        guard let group = group(named: name) else {
            return try command(commandType(named: name), words: words)
        }
        let description = CommandCatalog.tree.description(of: group)
        guard let word = words.first else {
            throw UsageError("a subcommand is missing", command: description)
        }
        if FlagDescription.help.isNamed(word) { return .help(description) }
        return try command(commandType(named: word, in: group), words: Array(words.dropFirst()))
    }

    private static func command<Parsed: Command>(
        _ type: Parsed.Type,
        words: [[UInt8]]
    ) throws(UsageError) -> Invocation {
        switch try ArgumentParser<Parsed>().parse(words) {
        case .help: .help(type.description)
        case .command(let command): .command(command)
        }
    }

    private static func help(about words: [[UInt8]]) throws(UsageError) -> Invocation {
        guard let name = words.first, !FlagDescription.help.isNamed(name) else {
            return .programHelp
        }
        let group = group(named: name)
        if let group, words.count == 1 {
            return .help(CommandCatalog.tree.description(of: group))
        }
        let description =
            if let group {
                try commandType(named: words[1], in: group).description
            } else {
                try commandType(named: name).description
            }
        let surplus = words.dropFirst(group == nil ? 1 : 2)
        if let word = surplus.first {
            throw UsageError("unexpected argument \(UsageError.quoting(word))")
        }
        return .help(description)
    }

    private static func group(named name: [UInt8]) -> CommandGroup? {
        CommandCatalog.tree.groups.first { name == [UInt8]($0.name.utf8) }
    }

    private static func commandType(
        named word: [UInt8],
        in group: CommandGroup
    ) throws(UsageError) -> any Command.Type {
        let members = CommandCatalog.tree.members(of: group)
        guard let member = members.first(where: { word == [UInt8]($0.utf8) }) else {
            throw UsageError(
                unknown: "subcommand",
                word: word,
                among: members,
                command: CommandCatalog.tree.description(of: group)
            )
        }
        return try commandType(named: [UInt8]("\(group.name) \(member)".utf8))
    }

    private static func commandType(named name: [UInt8]) throws(UsageError) -> any Command.Type {
        if let type = CommandCatalog.commands.first(where: { name == [UInt8]($0.name.utf8) }) {
            return type
        }
        if name.first == UInt8(ascii: "-"), name.count > 1 {
            throw UsageError(unknown: "option", word: name, among: ["--help", "--version"])
        }
        let names =
            CommandCatalog.commands.map { $0.name } + CommandCatalog.tree.groups.map(\.name)
        throw UsageError(unknown: "subcommand", word: name, among: names + ["help"])
    }
}
