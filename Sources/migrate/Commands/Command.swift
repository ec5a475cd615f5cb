import MigrationArchive
import MigrationCore

/// One subcommand: its description, its values once parsed, and what it does.
protocol Command: Sendable {
    /// What the command is called and takes.
    static var description: CommandDescription { get }

    /// What the command works on, as messages name it.
    var subject: String { get }

    /// What an error of this command is about.
    func subject(of error: any Error) -> String

    /// Makes a command of words that fit its description.
    init(_ arguments: ParsedArguments) throws(UsageError)

    /// Does the work and answers through the context's console.
    func run(in context: CommandContext) async throws -> ExitCode
}

extension Command {
    func subject(of error: any Error) -> String { subject }
}

extension ArchiveError {
    /// Whether the fault is with the place that is written to, whatever the archive holds.
    var isOfOutput: Bool { code == .outOfSpace || code == .outputFailed }
}

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
