/// A property of `Owner` that a flag or an argument sets.
typealias Property<Owner, Value> = any WritableKeyPath<Owner, Value> & Sendable

/// One flag, declared in one place: its names, its value, its help and its effect on `Owner`.
///
/// The parser, the help pages and the shell completions all read this declaration. Other
/// declarations refer to a flag through it, never through its name.
struct Flag<Owner>: Sendable {
    /// The flag as help pages and completions show it.
    private(set) var description: FlagDescription

    private let apply: @Sendable (inout Owner, [[UInt8]]) throws(UsageError) -> Void

    private init(
        _ description: FlagDescription,
        apply: @escaping @Sendable (inout Owner, [[UInt8]]) throws(UsageError) -> Void
    ) {
        self.description = description
        self.apply = apply
    }

    /// Applies the flag's values, which are empty for a flag without a value, to `owner`.
    func apply(_ values: [[UInt8]], to owner: inout Owner) throws(UsageError) {
        try apply(&owner, values)
    }
}

// MARK: - Declarations

extension Flag {
    /// Declares a flag without a value, which sets a property to `true`.
    init(_ name: String, short: Character? = nil, sets path: Property<Owner, Bool>) {
        self.init(name, short: short, sets: path, to: true)
    }

    /// Declares a flag without a value, which sets a property to `value`.
    init<Value: Sendable>(
        _ name: String,
        short: Character? = nil,
        sets path: Property<Owner, Value>,
        to value: Value
    ) {
        self.init(FlagDescription(name: name, short: short)) { owner, _ in
            owner[keyPath: path] = value
        }
    }

    /// Declares a flag whose value is stored in a property.
    init<Value>(
        _ name: String,
        short: Character? = nil,
        value: String,
        as reader: ValueReader<Value>,
        to path: Property<Owner, Value>
    ) {
        self.init(name, short: short, value: value, as: reader) { owner, value in
            owner[keyPath: path] = value
        }
    }

    /// Declares a flag whose value is stored in an optional property.
    init<Value>(
        _ name: String,
        short: Character? = nil,
        value: String,
        as reader: ValueReader<Value>,
        to path: Property<Owner, Value?>
    ) {
        self.init(name, short: short, value: value, as: reader) { owner, value in
            owner[keyPath: path] = value
        }
    }

    /// Declares a flag that may be repeated and whose values are collected in a property.
    init<Value>(
        _ name: String,
        short: Character? = nil,
        value: String,
        as reader: ValueReader<Value>,
        appendingTo path: Property<Owner, [Value]>
    ) {
        self.init(
            name,
            short: short,
            value: value,
            as: reader,
            isRepeatable: true
        ) { owner, value in
            owner[keyPath: path].append(value)
        }
    }

    /// Declares a flag with its own effect for each value.
    init<Value>(
        _ name: String,
        short: Character? = nil,
        value: String,
        as reader: ValueReader<Value>,
        isRepeatable: Bool = false,
        effect: @escaping @Sendable (inout Owner, Value) throws(ValueError) -> Void
    ) {
        let description = FlagDescription(
            name: name,
            short: short,
            valueName: value,
            isRepeatable: isRepeatable,
            completion: reader.completion
        )
        self.init(description) { (owner, values) throws(UsageError) in
            for bytes in values {
                do throws(ValueError) {
                    try effect(&owner, try reader.read(bytes))
                } catch {
                    throw error.usageError(of: description, value: bytes)
                }
            }
        }
    }
}

// MARK: - Variants

extension Flag {
    /// The same flag with its help.
    func help(_ help: String) -> Flag {
        changed { $0.help = help }
    }

    /// The same flag, under the heading of `topic` on help pages.
    func about(_ topic: FlagTopic) -> Flag {
        changed { $0.topic = topic }
    }

    /// The same flag, for a command that needs it.
    var required: Flag {
        changed { $0.isRequired = true }
    }

    /// The same flag, which needs `companion` to be given too.
    func needing<Other>(_ companion: Flag<Other>) -> Flag {
        changed { $0.companion = companion.description.name }
    }

    /// The same flag, which can't be given together with `rival`.
    func excluding<Other>(_ rival: Flag<Other>) -> Flag {
        changed { $0.rival = rival.description.name }
    }

    /// The same flag, which is needed unless `alternative` is given instead.
    func unless<Other>(_ alternative: Flag<Other>) -> Flag {
        changed { description in
            description.rival = alternative.description.name
            description.alternative = alternative.description.name
        }
    }

    /// The same flag of a command that keeps the flag's owner in a property.
    func included<Outer>(at path: Property<Outer, Owner>) -> Flag<Outer> {
        var description = description
        description.topic = description.topic ?? (Owner.self as? any FlagGroup.Type)?.topic
        return Flag<Outer>(description) { [apply] (outer, values) throws(UsageError) in
            try apply(&outer[keyPath: path], values)
        }
    }

    /// The same flag, for a command that doesn't support it; help pages don't show it.
    func refused<Outer>(because reason: String) -> Flag<Outer> {
        var description = description
        description.isRefused = true
        return Flag<Outer>(description) { [name = description.name] (_, _) throws(UsageError) in
            throw UsageError("option '--\(name)' can't be given: \(reason)")
        }
    }

    /// The words of a command line that set the flag, for other programs.
    func words(_ value: [UInt8]? = nil) -> [[UInt8]] {
        [[UInt8]("--\(description.name)".utf8)] + (value.map { [$0] } ?? [])
    }

    private func changed(_ change: (inout FlagDescription) -> Void) -> Flag {
        var flag = self
        change(&flag.description)
        return flag
    }
}

// MARK: - Arguments

/// A word that is not a flag, declared in one place with its effect on `Owner`.
struct Argument<Owner>: Sendable {
    /// The argument as help pages and completions show it.
    private(set) var description: ArgumentDescription

    private let apply: @Sendable (inout Owner, [[UInt8]]) throws(UsageError) -> Void

    /// Applies the words that the argument stands for to `owner`.
    func apply(_ words: [[UInt8]], to owner: inout Owner) throws(UsageError) {
        try apply(&owner, words)
    }

    /// The same argument with its help.
    func help(_ help: String) -> Argument {
        var argument = self
        argument.description.help = help
        return argument
    }

    /// The same argument, which is needed unless `alternative` is given instead.
    func unless<Other>(_ alternative: Flag<Other>) -> Argument {
        var argument = self
        argument.description.alternative = alternative.description.name
        return argument
    }

    /// Declares one word, which is stored in a property.
    init<Value>(
        _ name: String,
        as reader: ValueReader<Value>,
        to path: Property<Owner, Value>
    ) {
        self.init(name, count: .one, as: reader) { owner, value in
            owner[keyPath: path] = value
        }
    }

    /// Declares any number of words, or a command line, collected in a property.
    init<Value>(
        _ name: String,
        count: ArgumentDescription.Count,
        as reader: ValueReader<Value>,
        appendingTo path: Property<Owner, [Value]>
    ) {
        self.init(name, count: count, as: reader) { owner, value in
            owner[keyPath: path].append(value)
        }
    }

    /// Declares words with their own effect for each.
    init<Value>(
        _ name: String,
        count: ArgumentDescription.Count,
        as reader: ValueReader<Value>,
        effect: @escaping @Sendable (inout Owner, Value) -> Void
    ) {
        let description = ArgumentDescription(
            name: name,
            count: count,
            completion: reader.completion
        )
        self.description = description
        apply = { (owner, words) throws(UsageError) in
            for word in words {
                do throws(ValueError) {
                    effect(&owner, try reader.read(word))
                } catch {
                    throw error.usageError(of: description, word: word)
                }
            }
        }
    }
}

// MARK: - Groups

/// A value that flags set: a command, or a group of flags that several commands include.
protocol FlagGroup: Sendable {
    /// The flags, in the order of the help page.
    @FlagList<Self> static var flags: [Flag<Self>] { get }

    /// The heading under which help pages show flags that name no other.
    static var topic: FlagTopic? { get }

    /// Makes the value that applies when no flag is given.
    init()
}

extension FlagGroup {
    static var topic: FlagTopic? { nil }

    /// The flags of this group, for a command that keeps the group in a property.
    static func included<Outer>(
        at path: Property<Outer, Self>
    ) -> [Flag<Outer>] {
        flags.map { $0.included(at: path) }
    }

    /// The flags of this group, for a command that doesn't support them.
    static func refused<Outer>(because reason: String) -> [Flag<Outer>] {
        flags.map { $0.refused(because: reason) }
    }
}

/// A command as the parser sees it.
protocol ParsableCommand: FlagGroup {
    /// The words that select the command, such as `export` or `android lint`.
    static var name: String { get }

    /// The purpose of the command, in one line.
    static var abstract: String { get }

    /// The words that the command accepts besides flags.
    static var arguments: [Argument<Self>] { get }

    /// The command lines that the help page shows, the simplest first.
    static var examples: Examples { get }

    /// Checks the rules that concern several values, and completes values from others.
    mutating func check() throws(UsageError)

    /// The flags of the command line.
    var given: GivenFlags { get set }
}

extension ParsableCommand {
    static var arguments: [Argument<Self>] { [] }

    static var examples: Examples { [:] }

    /// The command as help pages and completions show it.
    static var description: CommandDescription {
        CommandDescription(
            name: name,
            abstract: abstract,
            arguments: arguments.map(\.description),
            flags: flags.map(\.description).filter { !$0.isRefused },
            refusedFlags: flags.map(\.description).filter(\.isRefused),
            examples: examples
        )
    }

    mutating func check() throws(UsageError) {}
}

/// Lists flags one below the other, with groups of flags among them.
@resultBuilder
enum FlagList<Owner> {
    static func buildExpression(_ flag: Flag<Owner>) -> [Flag<Owner>] { [flag] }

    static func buildExpression(_ flags: [Flag<Owner>]) -> [Flag<Owner>] { flags }

    static func buildBlock(_ parts: [Flag<Owner>]...) -> [Flag<Owner>] { parts.flatMap(\.self) }
}
