/// The command line: `sample-container DIR [--files N] [--seed S]`.
struct Arguments {
    static let usage = """
        USAGE: sample-container <dir> [--files <n>] [--seed <n>]

        Makes the data container of a notes app in <dir>, which must be new or empty.

        OPTIONS:
          --files <n>   how many notes and property lists (default: 2800)
          --seed <n>    the same seed makes the same container (default: 1)
          --help        show this help
        """

    var directory = ""
    var files = 2_800
    var seed: UInt64 = 1
    var wantsHelp = false

    init(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--files": files = try Self.number(after: word, in: &words)
            case "--seed": seed = try Self.number(after: word, in: &words)
            case "--help", "-h": wantsHelp = true
            case _ where word.hasPrefix("-"): throw SampleError.usage("unknown option '\(word)'")
            case _ where directory.isEmpty: directory = word
            default: throw SampleError.usage("unexpected argument '\(word)'")
            }
        }
        if directory.isEmpty, !wantsHelp {
            throw SampleError.usage("no directory given")
        }
    }

    private static func number<Number: FixedWidthInteger>(
        after option: String,
        in words: inout ArraySlice<String>
    ) throws -> Number {
        guard let word = words.popFirst() else {
            throw SampleError.usage("\(option) needs a number")
        }
        guard let number = Number(word), number >= 0 else {
            throw SampleError.usage("\(option) needs a number, not '\(word)'")
        }
        return number
    }
}
