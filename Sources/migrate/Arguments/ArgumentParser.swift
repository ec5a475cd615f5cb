/// Parses the words after a command's name into the command's flags and arguments.
struct ArgumentParser<Parsed: ParsableCommand>: Sendable {
    /// The result of parsing a valid command line.
    enum Outcome: Sendable {
        case command(Parsed)
        case help
    }

    private let command = Parsed.description

    /// Parses `words`; every error names the command.
    func parse(_ words: [[UInt8]]) throws(UsageError) -> Outcome {
        do throws(UsageError) {
            var found = FoundWords()
            guard try sort(words[...], into: &found) else { return .help }
            try checkCompleteness(of: found)
            return .command(try parsed(found))
        } catch {
            throw error.adding(command)
        }
    }

    /// Applies values in the order in which the flags are declared.
    private func parsed(_ found: FoundWords) throws(UsageError) -> Parsed {
        var parsed = Parsed()
        var words = found.words[...]
        for argument in Parsed.arguments {
            if found.replaces(argument.description) { continue }
            let count = argument.description.isSingle ? min(1, words.count) : words.count
            try argument.apply(Array(words.prefix(count)), to: &parsed)
            words = words.dropFirst(count)
        }
        for flag in Parsed.flags {
            guard let values = found.values[flag.description.name] else { continue }
            try flag.apply(values, to: &parsed)
        }
        parsed.given = GivenFlags(values: found.values)
        try parsed.check()
        return parsed
    }
}

/// The flags that a command line gives.
struct GivenFlags: Sendable {
    /// Their values by their names; none for a flag without a value.
    var values: [String: [[UInt8]]] = [:]

    /// Whether `flag` was given.
    func contains<Owner>(_ flag: Flag<Owner>) -> Bool {
        values[flag.description.name] != nil
    }
}

/// The words of a command line, sorted but not yet read.
private struct FoundWords: Sendable {
    /// The words that are not flags, in their order.
    var words: [[UInt8]] = []

    /// The values of each given flag in their order; none for a flag without a value.
    var values: [String: [[UInt8]]] = [:]

    /// Whether a flag was given instead of `argument`.
    func replaces(_ argument: ArgumentDescription) -> Bool {
        argument.alternative.map { values[$0] != nil } ?? false
    }
}

// MARK: - Flags

extension ArgumentParser {
    /// Returns `false` if the words ask for help.
    private func sort(
        _ words: ArraySlice<[UInt8]>,
        into found: inout FoundWords
    ) throws(UsageError) -> Bool {
        var rest = words
        while let word = rest.popFirst() {
            if word == [UInt8]("--".utf8) {
                try append(rest, to: &found)
                return true
            }
            if FlagDescription.help.isNamed(word) { return false }
            if word.count > 1, word[0] == UInt8(ascii: "-") {
                try readFlag(word, rest: &rest, into: &found)
            } else {
                try append(word, to: &found)
            }
        }
        return true
    }

    private func readFlag(
        _ word: [UInt8],
        rest: inout ArraySlice<[UInt8]>,
        into found: inout FoundWords
    ) throws(UsageError) {
        let parts = word.split(
            separator: UInt8(ascii: "="),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let label = [UInt8](parts[0])
        let known = command.allFlags + command.refusedFlags
        guard let flag = known.first(where: { $0.isNamed(label) }) else {
            let candidates = command.allFlags.map { "--\($0.name)" }
            throw UsageError(unknown: "option", word: label, among: candidates)
        }
        let attached = parts.count > 1 ? [UInt8](parts[1]) : nil
        guard flag.valueName != nil else {
            if attached != nil { throw UsageError("option '--\(flag.name)' takes no value") }
            found.values[flag.name] = []
            return
        }
        let value = if let attached { attached } else { try nextValue(of: flag, rest: &rest) }
        if !flag.isRepeatable, found.values[flag.name] != nil {
            throw UsageError("option '--\(flag.name)' is given twice")
        }
        found.values[flag.name, default: []].append(value)
    }

    private func nextValue(
        of flag: FlagDescription,
        rest: inout ArraySlice<[UInt8]>
    ) throws(UsageError) -> [UInt8] {
        guard let next = rest.first else {
            throw UsageError("option '--\(flag.name)' needs a value: \(flag.label)")
        }
        // A forgotten value, as in `--out --force`, must not swallow the next flag.
        guard !next.starts(with: "--".utf8) else {
            throw UsageError(
                "option '--\(flag.name)' needs a value before \(UsageError.quoting(next)): "
                    + "\(flag.label), or '--\(flag.name)=...' for a value that begins with '--'"
            )
        }
        rest.removeFirst()
        return next
    }
}

// MARK: - Arguments

extension ArgumentParser {
    private var takesCommandLine: Bool {
        command.arguments.contains { $0.count == .commandLine }
    }

    private func append(
        _ word: [UInt8],
        to found: inout FoundWords
    ) throws(UsageError) {
        if takesCommandLine {
            throw UsageError(
                "unexpected argument \(UsageError.quoting(word)): put '--' before the command to run"
            )
        }
        let takesAny = command.arguments.contains { $0.count == .any }
        guard takesAny || found.words.count < command.arguments.count else {
            throw UsageError("unexpected argument \(UsageError.quoting(word))")
        }
        found.words.append(word)
    }

    private func append(
        _ rest: ArraySlice<[UInt8]>,
        to found: inout FoundWords
    ) throws(UsageError) {
        if takesCommandLine {
            found.words = Array(rest)
        } else {
            for word in rest { try append(word, to: &found) }
        }
    }

    private func checkCompleteness(of found: FoundWords) throws(UsageError) {
        for flag in command.flags where flag.isRequired && found.values[flag.name] == nil {
            throw UsageError("option '\(flag.label)' is missing")
        }
        for flag in command.flags where found.values[flag.name] == nil {
            guard let other = flag.alternative, found.values[other] == nil else { continue }
            throw UsageError("option '\(flag.label)' or '--\(other)' is missing")
        }
        for flag in command.flags where found.values[flag.name] != nil {
            if let companion = flag.companion, found.values[companion] == nil {
                throw UsageError("option '--\(flag.name)' needs option '--\(companion)'")
            }
            if let rival = flag.rival, found.values[rival] != nil {
                throw UsageError("option '--\(flag.name)' can't be given with '--\(rival)'")
            }
        }
        let arguments = command.arguments.filter { !found.replaces($0) }
        let needed = arguments.filter { $0.count != .any && $0.count != .optional }
        if needed.count == arguments.count, found.words.count > needed.count, !takesCommandLine {
            throw UsageError(
                "unexpected argument \(UsageError.quoting(found.words[needed.count]))"
            )
        }
        guard found.words.count < needed.count else { return }
        throw UsageError("argument '\(needed[found.words.count].synopsis)' is missing")
    }
}
