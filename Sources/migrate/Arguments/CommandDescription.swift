/// What a command is called and what it takes, as data.
///
/// The parser, the help pages and the shell completions all read it.
struct CommandDescription: Sendable {
    /// The word that selects the command.
    let name: String

    /// What the command does, in one line.
    let abstract: String

    /// The words that it takes besides options.
    var arguments: [ArgumentDescription] = []

    /// The options that it takes, less `--help`, which every command takes.
    var options: [OptionDescription] = []

    /// All options, in the order of the help page.
    var allOptions: [OptionDescription] { options + [.help] }

    /// How the command is called, with all that it needs and a word for the rest.
    var synopsis: String {
        let needed = options.filter(\.isRequired)
        let rest = needed.count < options.count ? ["[<options>]"] : []
        return words(of: needed, rest).joined(separator: " ")
    }

    /// How the command is called, each option by itself.
    var fullSynopsis: [String] {
        words(of: options, [])
    }

    private func words(of options: [OptionDescription], _ rest: [String]) -> [String] {
        let (trailing, leading) = (
            arguments.filter { $0.count == .commandLine },
            arguments.filter { $0.count != .commandLine }
        )
        return ["migrate", name] + leading.map(\.synopsis) + options.map(\.synopsis) + rest
            + trailing.map(\.synopsis)
    }
}
