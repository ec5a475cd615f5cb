internal import MigrationSystem

/// Turns the bytes of the command line into a value, and defines its shell completion.
struct ValueReader<Value>: Sendable {
    let completion: ValueCompletion
    let read: @Sendable ([UInt8]) throws(ValueError) -> Value

    init(
        completion: ValueCompletion = .none,
        read: @escaping @Sendable ([UInt8]) throws(ValueError) -> Value
    ) {
        self.completion = completion
        self.read = read
    }

    /// A reader that passes its value through `transform`.
    func map<New>(
        _ transform: @escaping @Sendable (Value) throws(ValueError) -> New
    ) -> ValueReader<New> {
        ValueReader<New>(completion: completion) { [read] (bytes) throws(ValueError) in
            try transform(try read(bytes))
        }
    }

    /// A reader that makes another value with `transform`, or refuses the word with `problem`.
    func compactMap<New>(
        or problem: String,
        _ transform: @escaping @Sendable (Value) -> New?
    ) -> ValueReader<New> {
        map { (value) throws(ValueError) in
            guard let new = transform(value) else { throw .invalid(problem) }
            return new
        }
    }
}

/// The kind of words that a shell offers as a value.
enum ValueCompletion: Sendable {
    case none
    case file
    case directory
    case words([String])
}

/// The reason why a word is not a value.
enum ValueError: Error, Sendable {
    /// The word is empty.
    case empty

    /// The word does not have the form that the value's name shows.
    case malformed

    /// The word is not a value; the text follows the word in the message.
    case invalid(String)

    /// The word isn't one of these.
    case unknown(among: [String])

    /// The value can't be used; the text follows the flag in the message.
    case refused(String)

    /// The value can't be used; the text is the whole message.
    case message(String)
}

extension ValueError {
    /// The message about a value of `flag`.
    func usageError(of flag: FlagDescription, value: [UInt8]) -> UsageError {
        let option = "option '--\(flag.name)'"
        let start = "the value \(UsageError.quoting(value)) of \(option)"
        return switch self {
        case .empty: UsageError("\(option) has an empty value")
        case .malformed: UsageError("\(start) is not of the form \(flag.valueName ?? "")")
        case .invalid(let problem): UsageError("\(start) \(problem)")
        case .unknown(let names):
            UsageError(
                "\(start) is not one of \(names.joined(separator: ", "))"
                    + UsageError.hint(for: value, among: names)
            )
        case .refused(let reason): UsageError("\(option): \(reason)")
        case .message(let text): UsageError(text)
        }
    }

    /// The message about a word that stands for `argument`.
    func usageError(of argument: ArgumentDescription, word: [UInt8]) -> UsageError {
        let start = "argument '<\(argument.name)>'"
        return switch self {
        case .empty: UsageError("\(start) is empty")
        case .malformed: UsageError("\(start) is malformed: \(UsageError.quoting(word))")
        case .invalid(let problem): UsageError("\(start) \(problem): \(UsageError.quoting(word))")
        case .unknown(let names):
            UsageError(
                "unknown \(argument.name) \(UsageError.quoting(word))"
                    + (NearestWord.find(to: word, among: names).map { "; did you mean '\($0)'?" }
                        ?? "; it must be one of \(names.joined(separator: ", "))")
            )
        case .refused(let reason): UsageError("\(start): \(reason)")
        case .message(let text): UsageError(text)
        }
    }
}

// MARK: - Readers

extension ValueReader where Value == [UInt8] {
    /// Any bytes, even none.
    static var bytes: Self { Self { $0 } }
}

extension ValueReader where Value == BytePath {
    static var path: Self { path(.file) }

    /// The path of a file that a command writes besides its answer on standard output.
    static var outputPath: Self {
        path.map { (path) throws(ValueError) in
            guard path != "-" else {
                throw .refused(
                    "'-' can't stand for a standard stream here; './-' is a file of that name"
                )
            }
            return path
        }
    }

    static var directory: Self { path(.directory) }

    private static func path(_ completion: ValueCompletion) -> Self {
        Self(completion: completion) { (bytes) throws(ValueError) in
            guard !bytes.isEmpty else { throw .empty }
            return BytePath(bytes)
        }
    }
}

extension ValueReader where Value == String {
    /// Text that is not empty.
    static var text: Self { Self { (bytes) throws(ValueError) in try validText(bytes) } }

    /// The path of a file that Foundation opens, which must be text.
    static var textPath: Self {
        Self(completion: .file) { (bytes) throws(ValueError) in try validText(bytes) }
    }

    private static func validText(_ bytes: [UInt8]) throws(ValueError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .invalid("is not valid UTF-8")
        }
        guard !text.isEmpty else { throw .empty }
        return text
    }
}

extension ValueReader where Value == Int {
    /// A number within `range`.
    static func number(in range: ClosedRange<Int>) -> Self {
        Self { (bytes) throws(ValueError) in
            guard bytes.allSatisfy(\.isDigit),
                let number = Int(String(decoding: bytes, as: UTF8.self)), range.contains(number)
            else {
                throw .invalid("is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension ValueReader where Value == Duration {
    /// A number of seconds of at most a day.
    static var seconds: Self {
        Self { (bytes) throws(ValueError) in
            guard bytes.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }),
                let seconds = Double(String(decoding: bytes, as: UTF8.self)),
                seconds > 0, seconds <= 86_400
            else { throw .invalid("is not a number of seconds over 0 and at most 86,400") }
            return .seconds(seconds)
        }
    }
}

extension ValueReader where Value == UInt64 {
    /// A number of bytes, with an optional unit: K, M or G.
    static var byteCount: Self {
        Self { (bytes) throws(ValueError) in
            let shifts: [UInt8: UInt64] = [
                UInt8(ascii: "K"): 10, UInt8(ascii: "M"): 20, UInt8(ascii: "G"): 30,
            ]
            let shift = bytes.last.flatMap { shifts[$0] }
            let digits = shift == nil ? bytes : bytes.dropLast()
            guard digits.allSatisfy(\.isDigit),
                let number = UInt64(String(decoding: digits, as: UTF8.self)),
                number > 0, number <= UInt64(Int64.max) >> (shift ?? 0)
            else { throw .invalid("is not a number of bytes over 0, like 500M or 2G") }
            return number << (shift ?? 0)
        }
    }
}

extension ValueReader where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// One of the cases of the value's type.
    static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return Self(completion: .words(names)) { (bytes) throws(ValueError) in
            guard let text = String(validating: bytes, as: UTF8.self),
                let choice = Value(rawValue: text)
            else { throw .unknown(among: names) }
            return choice
        }
    }
}

/// A value of the form `name=value`.
struct Assignment: Sendable {
    let name: String
    let value: [UInt8]

    /// The error of a flag that assigns this name twice.
    func repetition(of option: String) -> ValueError {
        let quoted = UsageError.quoting([UInt8](name.utf8))
        return .message("option '--\(option)' is given twice for \(quoted)")
    }
}

extension ValueReader where Value == Assignment {
    /// A name and a value, divided by the first equals sign.
    static var assignment: Self {
        Self { (bytes) throws(ValueError) in
            guard let end = bytes.firstIndex(of: UInt8(ascii: "=")), end > 0,
                let name = String(validating: bytes[..<end], as: UTF8.self)
            else { throw .malformed }
            return Assignment(name: name, value: Array(bytes[(end + 1)...]))
        }
    }
}

extension UInt8 {
    /// Whether it is one of the ten digits in ASCII.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
