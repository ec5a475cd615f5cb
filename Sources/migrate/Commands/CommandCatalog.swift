/// The commands that there are.
enum CommandCatalog {
    /// All commands, in the order of the help page.
    static let commands: [any Command.Type] = [
        ExportCommand.self,
        ImportCommand.self,
        PreflightCommand.self,
        InspectCommand.self,
        ListCommand.self,
        ExtractCommand.self,
        VerifyCommand.self,
        SignCommand.self,
        DiffCommand.self,
        StatusCommand.self,
        RecoverCommand.self,
        RunCommand.self,
        AndroidLintCommand.self,
        AndroidPreviewCommand.self,
        AndroidConvertCommand.self,
        AndroidManifestCommand.self,
        CompletionsCommand.self,
    ]

    /// Words that stand before the names of several commands.
    static let groups: [CommandGroup] = [
        CommandGroup(
            name: "android",
            abstract: "Check what an Android app hands over, and convert its backups."
        )
    ]
}

/// A word under which several commands stand, such as `android` of `migrate android lint`.
struct CommandGroup: Sendable {
    let name: String
    let abstract: String

    /// The second words of the group's commands.
    var members: [String] {
        CommandCatalog.commands.map { $0.description.name }
            .filter { $0.hasPrefix(name + " ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// What the help says of the word by itself.
    var description: CommandDescription {
        let help = "One of: \(members.joined(separator: ", "))."
        return CommandDescription(
            name: name,
            abstract: abstract,
            arguments: [ArgumentDescription(name: "subcommand", help: help)]
        )
    }
}
