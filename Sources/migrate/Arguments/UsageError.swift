internal import MigrationSystem

/// A command line that can't be understood.
struct UsageError: Error, Sendable {
    /// The problem, with the word that causes it.
    let message: String

    /// The command that was meant, if it is known.
    private(set) var command: CommandDescription?

    init(_ message: String, command: CommandDescription? = nil) {
        self.message = message
        self.command = command
    }

    /// Makes an error for a word that isn't one of `candidates`, and names the nearest one.
    init(
        unknown kind: String,
        word: [UInt8],
        among candidates: [String],
        command: CommandDescription? = nil
    ) {
        let hint = Self.hint(for: word, among: candidates)
        self.init("unknown \(kind) \(Self.quoting(word))\(hint)", command: command)
    }

    /// The same error, about `command` unless it already names one.
    func adding(_ command: CommandDescription?) -> UsageError {
        UsageError(message, command: self.command ?? command)
    }

    /// A question that offers the nearest of `candidates`, or nothing.
    static func hint(for word: [UInt8], among candidates: [String]) -> String {
        NearestWord.find(to: word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// A word of the command line in printable form.
    static func quoting(_ word: [UInt8]) -> String {
        "'\(PrintableText.escaping(word))'"
    }
}

/// Finds the word that a mistyped word most likely stands for.
enum NearestWord {
    /// Returns the candidate that begins with `word`, or else the one that takes the fewest edits.
    ///
    /// Returns `nil` if even the nearest differs in more than a third of its letters.
    static func find(to word: [UInt8], among candidates: [String]) -> String? {
        let dash = UInt8(ascii: "-")
        let begun = word.drop { $0 == dash }.count > 1
        if begun, let match = candidates.first(where: { $0.utf8.starts(with: word) }) {
            return match
        }
        let rivals = candidates.compactMap { candidate -> (rank: (Int, Int), name: String)? in
            let letters = [UInt8](candidate.utf8)
            let limit = max(letters.drop { $0 == dash }.count / 3, 1)
            guard abs(letters.count - word.count) <= limit else { return nil }
            let distance = distance(word, letters)
            // People seldom mistype the first letter, so it decides between equals.
            let rank = (distance, letters.first == word.first ? 0 : 1)
            return distance <= limit ? (rank, candidate) : nil
        }
        return rivals.min { $0.rank < $1.rank }?.name
    }

    /// The number of insertions, removals, replacements and swaps of neighbours between two words.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var previous = [Int](repeating: 0, count: right.count + 1)
        var current = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            let older = previous
            previous = current
            current[0] = row + 1
            for (column, other) in right.enumerated() {
                let change = previous[column] + (letter == other ? 0 : 1)
                var best = min(change, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, older[column - 1] + 1)
                }
                current[column + 1] = best
            }
        }
        return current[right.count]
    }
}
