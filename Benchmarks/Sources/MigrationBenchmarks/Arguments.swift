internal import Glibc

/// The command line of the benchmarks.
struct Arguments {
    static let usage = """
        USAGE: migration-benchmarks --migrate <path> [--tree <dir>] [--rounds <n>]
                                    [--scratch <dir>] [--json <file>]

        Measures migrate against tar and zstd, in turn on the same tree, and prints a table.

        OPTIONS:
          --migrate <path>   the program to measure
          --tree <dir>       what to export (default: /usr/share)
          --rounds <n>       how many pairs of runs, after a warm-up (default: 5)
          --scratch <dir>    where archives and copies go (default: /dev/shm, else $TMPDIR or /tmp)
          --json <file>      also writes every measurement to this file
          --help             show this help
        """

    var migrate = ""
    var tree = "/usr/share"
    var rounds = 5
    var scratch = Self.defaultScratch
    var json: String?
    var wantsHelp = false

    init(_ words: [String]) throws(BenchmarkError) {
        var words = words[...]
        while let word = words.popFirst() {
            switch word {
            case "--migrate": migrate = try Self.value(of: word, in: &words)
            case "--tree": tree = try Self.value(of: word, in: &words)
            case "--rounds": rounds = try Self.count(of: word, in: &words)
            case "--scratch": scratch = try Self.value(of: word, in: &words)
            case "--json": json = try Self.value(of: word, in: &words)
            case "--help", "-h": wantsHelp = true
            default: throw .usage("unknown argument '\(word)'")
            }
        }
        if migrate.isEmpty, !wantsHelp {
            throw .usage("--migrate is needed: the program to measure")
        }
    }

    private static var defaultScratch: String {
        if access("/dev/shm", W_OK) == 0 {
            return "/dev/shm"
        }
        return getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }

    private static func value(
        of option: String,
        in words: inout ArraySlice<String>
    ) throws(BenchmarkError) -> String {
        guard let word = words.popFirst() else {
            throw .usage("\(option) needs a value")
        }
        return word
    }

    private static func count(
        of option: String,
        in words: inout ArraySlice<String>
    ) throws(BenchmarkError) -> Int {
        let word = try value(of: option, in: &words)
        guard let count = Int(word), count > 0 else {
            throw .usage("\(option) needs a number from 1, not '\(word)'")
        }
        return count
    }
}
