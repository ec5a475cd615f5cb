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
        DiffCommand.self,
        StatusCommand.self,
        RunCommand.self,
        CompletionsCommand.self,
    ]
}
