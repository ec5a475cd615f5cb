/// The words of a command line, sorted; values stay bytes until a command asks for more.
struct ParsedArguments: Sendable {
    /// The words that are no options, in their order.
    var words: [[UInt8]] = []

    /// The options without a value that were given.
    var flags: Set<String> = []

    /// The values of each option that was given, in their order.
    var values: [String: [[UInt8]]] = [:]

    /// Whether the option `name`, which takes no value, was given.
    func has(_ name: String) -> Bool {
        flags.contains(name)
    }

    /// Whether the option `name` was given, with a value or without.
    func isGiven(_ name: String) -> Bool {
        flags.contains(name) || values[name] != nil
    }

    /// The path that the required option `name` gives.
    func path(_ name: String) throws(UsageError) -> [UInt8] {
        let value = values[name]?.first ?? []
        guard !value.isEmpty else { throw UsageError("option '--\(name)' has an empty value") }
        return value
    }

    /// The path at `index` of the arguments.
    func path(at index: Int, _ name: String) throws(UsageError) -> [UInt8] {
        guard !words[index].isEmpty else { throw UsageError("argument '<\(name)>' is empty") }
        return words[index]
    }

    /// The value of the option `name` as text, if it was given.
    func text(_ name: String) throws(UsageError) -> String? {
        try texts(name).first
    }

    /// All values of the option `name` as text.
    func texts(_ name: String) throws(UsageError) -> [String] {
        var texts: [String] = []
        for value in values[name] ?? [] {
            guard let text = String(validating: value, as: UTF8.self) else {
                throw wrongValue(name, value, "is no UTF-8 text")
            }
            guard !text.isEmpty else { throw UsageError("option '--\(name)' has an empty value") }
            texts.append(text)
        }
        return texts
    }

    /// The value of the option `name` as a number of `range`, if it was given.
    func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let value = values[name]?.first else { return nil }
        let isDigits = value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDigits, let number = Int(String(decoding: value, as: UTF8.self)),
            range.contains(number)
        else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw wrongValue(name, value, "is no number \(bounds)")
        }
        return number
    }

    /// The value of the option `name` as a number of seconds of at most a day, if it was given.
    func duration(_ name: String) throws(UsageError) -> Duration? {
        guard let value = values[name]?.first else { return nil }
        let isDecimal = value.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        guard isDecimal, let seconds = Double(String(decoding: value, as: UTF8.self)),
            seconds > 0, seconds <= 86_400
        else {
            let bounds = "over 0 and at most 86,400"
            throw wrongValue(name, value, "is no number of seconds \(bounds)")
        }
        return .seconds(seconds)
    }

    /// The value of the option `name` as a number of bytes, perhaps with a unit, if it was given.
    func byteCount(_ name: String) throws(UsageError) -> UInt64? {
        guard let value = values[name]?.first else { return nil }
        let shifts: [UInt8: UInt64] = [
            UInt8(ascii: "K"): 10, UInt8(ascii: "M"): 20, UInt8(ascii: "G"): 30,
        ]
        let shift = value.last.flatMap { shifts[$0] }
        let digits = shift == nil ? value : value.dropLast()
        let isDigits = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isDigits, let number = UInt64(String(decoding: digits, as: UTF8.self)),
            number > 0, number <= UInt64(Int64.max) >> (shift ?? 0)
        else {
            throw wrongValue(name, value, "is no number of bytes over 0, like 500M or 2G")
        }
        return number << (shift ?? 0)
    }

    /// The values of the option `name`, each cut at its first equals sign into a name and the rest.
    ///
    /// `form` says in messages what a value looks like.
    func assignments(
        _ name: String,
        _ form: String
    ) throws(UsageError) -> [(name: String, value: [UInt8])] {
        var assignments: [(name: String, value: [UInt8])] = []
        for value in values[name] ?? [] {
            guard let end = value.firstIndex(of: UInt8(ascii: "=")), end > 0,
                let key = String(validating: value[..<end], as: UTF8.self)
            else { throw wrongValue(name, value, "is not of the form \(form)") }
            guard !assignments.contains(where: { $0.name == key }) else {
                let quoted = UsageError.quoting([UInt8](key.utf8))
                throw UsageError("option '--\(name)' is given twice for \(quoted)")
            }
            assignments.append((key, Array(value[(end + 1)...])))
        }
        return assignments
    }

    /// The value of the option `name` as one of a type's cases, if it was given.
    func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        of type: Value.Type
    ) throws(UsageError) -> Value? {
        guard let value = values[name]?.first else { return nil }
        if let text = String(validating: value, as: UTF8.self), let choice = Value(rawValue: text) {
            return choice
        }
        let names = Value.allCases.map(\.rawValue)
        let nearest = NearestWord.find(to: value, among: names)
        let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
        throw wrongValue(name, value, "is none of \(names.joined(separator: ", "))\(hint)")
    }

    private func wrongValue(_ name: String, _ value: [UInt8], _ problem: String) -> UsageError {
        UsageError("the value \(UsageError.quoting(value)) of option '--\(name)' \(problem)")
    }
}
