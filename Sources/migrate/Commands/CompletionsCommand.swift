internal import MigrationReports

/// `migrate completions`: prints a shell's completion script for the commands and flags.
struct CompletionsCommand: Command {
    private var shell = Shell.bash
    var common = CommonOptions()

    static let name = "completions"
    static let abstract = "Print a completion script for a shell."

    static var arguments: [Argument<Self>] {
        [
            Argument("shell", as: .choice, to: \.shell)
                .help("The shell: 'bash', 'zsh' or 'fish'.")
        ]
    }

    static var flags: [Flag<Self>] {}

    static let examples: Examples = [
        "Teach bash.": "migrate completions bash > /etc/bash_completion.d/migrate",
        "Teach zsh.": "migrate completions zsh > ~/.zfunc/_migrate",
        "Teach fish.": "migrate completions fish > ~/.config/fish/completions/migrate.fish",
    ]

    var onlyAnswers: Bool { true }

    var subject: String { shell.rawValue }

    func run(in context: CommandContext) async throws -> ExitCode {
        try context.console.output.write(shell.completionScript(for: context.tree))
        return .success
    }
}
