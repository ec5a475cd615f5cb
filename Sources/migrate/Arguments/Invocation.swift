/// What a command line asks for.
enum Invocation: Sendable {
    case command(any Command)
    case help(CommandDescription?)
    case version

    /// Reads the words after the program's name.
    init(_ words: [[UInt8]]) throws(UsageError) {
        guard let first = words.first else { throw UsageError("a subcommand is missing") }
        let rest = Array(words.dropFirst())
        switch String(decoding: first, as: UTF8.self) {
        case "--version": self = .version
        case "--help", "-h": self = .help(nil)
        case "help": self = try Self.help(rest)
        default: self = try Self.command(first, rest)
        }
    }

    private static func command(
        _ name: [UInt8],
        _ words: [[UInt8]]
    ) throws(UsageError) -> Invocation {
        if let group = group(name) { return try command(of: group, words) }
        return try command(commandType(name), words)
    }

    private static func command(
        _ type: any Command.Type,
        _ words: [[UInt8]]
    ) throws(UsageError) -> Invocation {
        switch try ArgumentParser(command: type.description).parse(words) {
        case .help: return .help(type.description)
        case .arguments(let arguments):
            do throws(UsageError) {
                return .command(try type.init(arguments))
            } catch {
                throw error.adding(type.description)
            }
        }
    }

    private static func group(_ name: [UInt8]) -> CommandGroup? {
        CommandCatalog.groups.first { name == [UInt8]($0.name.utf8) }
    }

    private static func command(
        of group: CommandGroup,
        _ words: [[UInt8]]
    ) throws(UsageError) -> Invocation {
        guard let word = words.first else {
            throw UsageError("a subcommand is missing", command: group.description)
        }
        if ["-h", "--help"].contains(String(decoding: word, as: UTF8.self)) {
            return .help(group.description)
        }
        return try command(commandType(word, of: group), Array(words.dropFirst()))
    }

    private static func commandType(
        _ word: [UInt8],
        of group: CommandGroup
    ) throws(UsageError) -> any Command.Type {
        guard let member = group.members.first(where: { word == [UInt8]($0.utf8) }) else {
            var error = UsageError(unknown: "subcommand", word, among: group.members)
            error.command = group.description
            throw error
        }
        return try commandType([UInt8]("\(group.name) \(member)".utf8))
    }

    private static func help(_ words: [[UInt8]]) throws(UsageError) -> Invocation {
        guard let name = words.first, name != [UInt8]("--help".utf8), name != [UInt8]("-h".utf8)
        else { return .help(nil) }
        if let group = group(name) {
            guard words.count > 1 else { return .help(group.description) }
            let description = try commandType(words[1], of: group).description
            guard words.count == 2 else {
                throw UsageError("surplus argument \(UsageError.quoting(words[2]))")
            }
            return .help(description)
        }
        let description = try commandType(name).description
        guard words.count == 1 else {
            throw UsageError("surplus argument \(UsageError.quoting(words[1]))")
        }
        return .help(description)
    }

    private static func commandType(_ name: [UInt8]) throws(UsageError) -> any Command.Type {
        let types = CommandCatalog.commands
        if let type = types.first(where: { name == [UInt8]($0.description.name.utf8) }) {
            return type
        }
        if name.first == UInt8(ascii: "-"), name.count > 1 {
            throw UsageError(unknown: "option", name, among: ["--help", "--version"])
        }
        let names =
            types.map { $0.description.name } + CommandCatalog.groups.map(\.name) + ["help"]
        throw UsageError(unknown: "subcommand", name, among: names)
    }
}
