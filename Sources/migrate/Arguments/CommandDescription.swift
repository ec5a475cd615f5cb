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

/// A word that a command takes besides options.
struct ArgumentDescription: Sendable {
    /// How many words an argument stands for.
    enum Count: Sendable {
        /// Exactly one.
        case one
        /// None or more.
        case any
        /// All after `--`, at least one.
        case commandLine
    }

    let name: String
    let help: String
    var count = Count.one
    var completion = ValueCompletion.none

    /// How the argument stands in a synopsis.
    var synopsis: String {
        switch count {
        case .one: "<\(name)>"
        case .any: "[<\(name)>...]"
        case .commandLine: "-- <\(name)>..."
        }
    }
}

/// An option: a name, and a value if it takes one.
struct OptionDescription: Sendable {
    let name: String
    let help: String
    var valueName: String?
    var isRequired = false
    var isRepeatable = false
    var completion = ValueCompletion.none

    /// The option without which this one means nothing.
    var companion: String?

    /// The option that this one can't be given with.
    var rival: String?

    /// The option as it is typed, with a word for its value.
    var label: String {
        valueName.map { "--\(name) <\($0)>" } ?? "--\(name)"
    }

    /// How the option stands in a synopsis.
    var synopsis: String {
        (isRequired ? label : "[\(label)]") + (isRepeatable ? "..." : "")
    }
}

/// What a shell may offer as a value.
enum ValueCompletion: Sendable {
    case none
    case file
    case directory
    case words([String])
}
