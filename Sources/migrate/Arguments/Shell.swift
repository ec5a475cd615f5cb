/// A shell that completion scripts are made for.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// The script that completes `commands`.
    func completionScript(for commands: [any Command.Type]) -> String {
        let descriptions = commands.map { $0.description }
        return switch self {
        case .bash: BashCompletions(commands: descriptions).script
        case .zsh: ZshCompletions(commands: descriptions).script
        case .fish: FishCompletions(commands: descriptions).script
        }
    }

    /// `text` as one word in single quotes.
    static func quoting(_ text: String) -> String {
        "'"
            + text.split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "'\\''"
            )
            + "'"
    }
}
