/// The program's commands as plain data.
///
/// Help pages and shell completions are made from this tree.
struct CommandTree: Sendable {
    /// The purpose of `migrate help`, which is not a separate command.
    static let helpAbstract = "Show the help of a subcommand."

    /// The purpose of the program.
    let abstract: String

    /// The commands by their purpose, in the order of the help page.
    let sections: [CommandSection]

    /// The words that precede the names of several commands.
    let groups: [CommandGroup]

    /// The command lines of the help page.
    let examples: Examples

    /// The commands, in the order of the help page.
    var commands: [CommandDescription] { sections.flatMap(\.commands) }

    /// The words that may follow the program's name, without `help`.
    var firstWords: [String] {
        commands.map(\.name).filter { !$0.contains(" ") } + groups.map(\.name)
    }

    /// The commands that are not part of a group.
    var singleCommands: [CommandDescription] { commands.filter { !$0.name.contains(" ") } }

    /// The second words of the commands in `group`.
    func members(of group: CommandGroup) -> [String] {
        commands.map(\.name)
            .filter { $0.hasPrefix(group.name + " ") }
            .map { String($0.dropFirst(group.name.count + 1)) }
    }

    /// The help of the group's word by itself.
    func description(of group: CommandGroup) -> CommandDescription {
        let help = "One of: \(members(of: group).joined(separator: ", "))."
        return CommandDescription(
            name: group.name,
            abstract: group.abstract,
            arguments: [ArgumentDescription(name: "subcommand", help: help)]
        )
    }
}

/// The commands that serve one purpose, under a heading of the help page.
struct CommandSection: Sendable {
    let title: String
    let commands: [CommandDescription]
}

/// Command lines that a help page shows, each after a sentence that says what it does.
typealias Examples = KeyValuePairs<String, String>

/// A word that precedes the names of several commands, such as `android`.
struct CommandGroup: Sendable {
    let name: String
    let abstract: String
}

/// A command: its name, its purpose and the words that it accepts.
struct CommandDescription: Sendable {
    let name: String
    let abstract: String
    var arguments: [ArgumentDescription] = []

    /// The flags without `--help`, which every command accepts.
    var flags: [FlagDescription] = []

    /// The flags of other commands that this one refuses with a reason.
    var refusedFlags: [FlagDescription] = []

    /// The command lines of the help page.
    var examples: Examples = [:]

    /// All flags, in the order of their declarations.
    var allFlags: [FlagDescription] { flags + [.help] }

    /// The flags under the headings of the help page; a short list has one.
    var flagSections: [(title: String, flags: [FlagDescription])] {
        guard allFlags.count > 10 else { return [("Options", allFlags)] }
        let others = allFlags.filter { $0.topic == nil }
        return [("Options", others)].filter { !$0.1.isEmpty }
            + FlagTopic.allCases.compactMap { topic in
                let flags = allFlags.filter { $0.topic == topic }
                return flags.isEmpty ? nil : (topic.title, flags)
            }
    }

    /// The synopsis with the flags that are usually needed, and one word for the others.
    var synopsis: String {
        let needed = flags.compactMap { flag -> String? in
            guard let name = flag.alternative else { return flag.isRequired ? flag.synopsis : nil }
            guard let other = flags.first(where: { $0.name == name }) else { return flag.label }
            return "(\(flag.label) | \(other.label))"
        }
        let rest = needed.count < flags.count ? ["[<options>]"] : []
        let leading = arguments.filter { $0.count != .commandLine }
        let trailing = arguments.filter { $0.count == .commandLine }
        let words =
            ["migrate", name] + leading.map(\.synopsis) + needed + rest
            + trailing.map(\.synopsis)
        return words.joined(separator: " ")
    }
}

/// The part of a command's work that a flag concerns; help pages show it under this heading.
enum FlagTopic: String, CaseIterable, Sendable {
    case container, archive, `extension`, encryption, signature, running

    /// The heading on help pages.
    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// A flag as help pages and completions show it.
struct FlagDescription: Sendable {
    let name: String
    var short: Character?
    var help = ""
    var valueName: String?
    var isRequired = false
    var isRepeatable = false
    var completion = ValueCompletion.none

    /// The heading under which help pages show it.
    var topic: FlagTopic?

    /// Whether the flag exists only to explain why the command doesn't support it.
    var isRefused = false

    /// The name of the flag that this one needs.
    var companion: String?

    /// The name of the flag that excludes this one.
    var rival: String?

    /// The name of the flag that must be given if this one is not.
    var alternative: String?

    static let help = FlagDescription(
        name: "help",
        short: "h",
        help: "Show this help.",
        topic: .running
    )

    /// The flag as typed, with the name of its value.
    var label: String {
        valueName.map { "--\(name) <\($0)>" } ?? "--\(name)"
    }

    /// The label with the short name before it.
    var fullLabel: String {
        short.map { "-\($0), \(label)" } ?? label
    }

    /// The flag in a synopsis.
    var synopsis: String {
        (isRequired ? label : "[\(label)]") + (isRepeatable ? "..." : "")
    }

    /// Whether `word` is the flag's long or short name with its dashes.
    func isNamed(_ word: [UInt8]) -> Bool {
        word == [UInt8]("--\(name)".utf8) || short.map { word == [UInt8]("-\($0)".utf8) } ?? false
    }
}

/// A word that is not a flag, as help pages and completions show it.
struct ArgumentDescription: Sendable {
    /// The number of words that an argument stands for.
    enum Count: Sendable {
        /// Exactly one.
        case one
        /// None or one.
        case optional
        /// None or more.
        case any
        /// All words after `--`, at least one.
        case commandLine
    }

    let name: String
    var help = ""
    var count = Count.one
    var completion = ValueCompletion.none

    /// The name of the flag that can be given instead.
    var alternative: String?

    /// Whether it stands for at most one word.
    var isSingle: Bool { count == .one || count == .optional }

    /// The argument in a synopsis.
    var synopsis: String {
        switch count {
        case .one where alternative != nil: "[<\(name)>]"
        case .one: "<\(name)>"
        case .optional: "[<\(name)>]"
        case .any: "[<\(name)>...]"
        case .commandLine: "-- <\(name)>..."
        }
    }
}
