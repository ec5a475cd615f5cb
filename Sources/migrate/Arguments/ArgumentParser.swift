/// Sorts the words after a command's name into options and arguments, as its description says.
struct ArgumentParser: Sendable {
    /// What the words ask for.
    enum Outcome: Sendable {
        case arguments(ParsedArguments)
        case help
    }

    let command: CommandDescription

    /// Reads `words`; every error names the command.
    func parse(_ words: [[UInt8]]) throws(UsageError) -> Outcome {
        do throws(UsageError) {
            var arguments = ParsedArguments()
            guard try sort(words[...], into: &arguments) else { return .help }
            try checkCompleteness(of: arguments)
            return .arguments(arguments)
        } catch {
            throw error.adding(command)
        }
    }

    /// Returns `false` where the words ask for help.
    private func sort(
        _ words: ArraySlice<[UInt8]>,
        into arguments: inout ParsedArguments
    ) throws(UsageError) -> Bool {
        var rest = words
        while let word = rest.popFirst() {
            if word == [UInt8]("--".utf8) {
                try append(rest, to: &arguments)
                return true
            }
            if word == [UInt8]("-h".utf8) || word == [UInt8]("--help".utf8) { return false }
            if word.count > 1, word[0] == UInt8(ascii: "-") {
                try readOption(word, &rest, into: &arguments)
            } else {
                try append(word, to: &arguments)
            }
        }
        return true
    }

    private func readOption(
        _ word: [UInt8],
        _ rest: inout ArraySlice<[UInt8]>,
        into arguments: inout ParsedArguments
    ) throws(UsageError) {
        let parts = word.split(
            separator: UInt8(ascii: "="),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let label = [UInt8](parts[0])
        guard
            let option = command.allOptions.first(where: { label == [UInt8]("--\($0.name)".utf8) })
        else {
            let candidates = command.allOptions.map { "--\($0.name)" }
            throw UsageError(unknown: "option", label, among: candidates)
        }
        let attached = parts.count > 1 ? [UInt8](parts[1]) : nil
        guard option.valueName != nil else {
            if attached != nil { throw UsageError("option '--\(option.name)' takes no value") }
            arguments.flags.insert(option.name)
            return
        }
        let value = if let attached { attached } else { try nextValue(of: option, &rest) }
        if !option.isRepeatable, arguments.values[option.name] != nil {
            throw UsageError("option '--\(option.name)' is given twice")
        }
        arguments.values[option.name, default: []].append(value)
    }

    private func nextValue(
        of option: OptionDescription,
        _ rest: inout ArraySlice<[UInt8]>
    ) throws(UsageError) -> [UInt8] {
        guard let next = rest.first else {
            throw UsageError("option '--\(option.name)' needs a value: \(option.label)")
        }
        // A forgotten value, as in `--out --force`, must not swallow the next option.
        guard !next.starts(with: "--".utf8) else {
            throw UsageError(
                "option '--\(option.name)' needs a value before \(UsageError.quoting(next)): "
                    + "\(option.label), or '--\(option.name)=...' for a value that begins with '--'"
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
        to arguments: inout ParsedArguments
    ) throws(UsageError) {
        if takesCommandLine {
            throw UsageError(
                "surplus argument \(UsageError.quoting(word)): put '--' before the command to run"
            )
        }
        let takesAny = command.arguments.contains { $0.count == .any }
        guard takesAny || arguments.words.count < command.arguments.count else {
            throw UsageError("surplus argument \(UsageError.quoting(word))")
        }
        arguments.words.append(word)
    }

    private func append(
        _ rest: ArraySlice<[UInt8]>,
        to arguments: inout ParsedArguments
    ) throws(UsageError) {
        if takesCommandLine {
            arguments.words = Array(rest)
        } else {
            for word in rest { try append(word, to: &arguments) }
        }
    }

    private func checkCompleteness(of arguments: ParsedArguments) throws(UsageError) {
        for option in command.options
        where option.isRequired && arguments.values[option.name] == nil {
            throw UsageError("option '\(option.label)' is missing")
        }
        try checkCompany(in: arguments)
        let needed = command.arguments.filter { $0.count != .any }
        guard arguments.words.count < needed.count else { return }
        throw UsageError("argument '\(needed[arguments.words.count].synopsis)' is missing")
    }

    /// Throws where an option is given without the one that it needs, or with one that it excludes.
    private func checkCompany(in arguments: ParsedArguments) throws(UsageError) {
        for option in command.options where arguments.isGiven(option.name) {
            if let companion = option.companion, !arguments.isGiven(companion) {
                throw UsageError("option '--\(option.name)' needs option '--\(companion)'")
            }
            if let rival = option.rival, arguments.isGiven(rival) {
                throw UsageError("option '--\(option.name)' can't be given with '--\(rival)'")
            }
        }
    }
}
