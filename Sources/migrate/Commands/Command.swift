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
