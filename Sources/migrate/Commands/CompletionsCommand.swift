/// `migrate completions`: a script that teaches a shell the commands and options.
struct CompletionsCommand: Command {
    static let description = CommandDescription(
        name: "completions",
        abstract: "Print a completion script for a shell.",
        arguments: [
            ArgumentDescription(
                name: "shell",
                help: "The shell: 'bash', 'zsh' or 'fish'.",
                completion: .words(Shell.allCases.map(\.rawValue))
            )
        ]
    )

    let shell: Shell

    var isForItsAnswer: Bool { true }

    var subject: String { shell.rawValue }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        let name = try arguments.path(at: 0, "shell")
        guard let shell = Shell.allCases.first(where: { name == [UInt8]($0.rawValue.utf8) }) else {
            let names = Shell.allCases.map(\.rawValue)
            throw UsageError(unknown: "shell", name, among: names)
        }
        self.shell = shell
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        try context.console.output.write(shell.completionScript(for: CommandCatalog.commands))
        return .success
    }
}
