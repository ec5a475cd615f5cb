/// The words of a command line, one after another.
struct ArgumentReader {
    private var words: ArraySlice<String>
    private var option = ""

    init(_ words: [String]) {
        self.words = words[...]
    }

    mutating func next() -> String? {
        guard let word = words.popFirst() else { return nil }
        option = word
        return word
    }

    /// The value of the option that was read last.
    mutating func value() throws(BenchmarkError) -> String {
        guard let word = words.popFirst() else {
            throw .usage("\(option) needs a value")
        }
        return word
    }

    mutating func positiveNumber() throws(BenchmarkError) -> Double {
        let word = try value()
        guard let number = Double(word), number > 0, number < 1e6 else {
            throw .usage("\(option) needs a number over 0, not '\(word)'")
        }
        return number
    }

    /// Words between commas; each must be valid.
    mutating func list<Element>(
        _ noun: String,
        _ parse: (String) -> Element?
    ) throws(BenchmarkError) -> [Element] {
        var elements: [Element] = []
        for word in try value().split(separator: ",") {
            guard let element = parse(String(word)) else {
                throw .usage("\(option): '\(word)' is no \(noun)")
            }
            elements.append(element)
        }
        guard !elements.isEmpty else {
            throw .usage("\(option) needs at least one \(noun)")
        }
        return elements
    }
}
