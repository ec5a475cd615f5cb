import MigrationSystem
import Testing

@testable import migrate

struct ArgumentParserTests {
    private struct Pack: ParsableCommand {
        var given = GivenFlags()
        var box: [[UInt8]] = []
        var things: [[UInt8]] = []
        var directory: BytePath = ""
        var isForced = false
        var skipped: [[UInt8]] = []
        var label: String?
        var isQuiet = false

        static let name = "pack"
        static let abstract = "Pack things."

        static var arguments: [Argument<Self>] {
            [
                Argument("box", count: .one, as: .bytes, appendingTo: \.box).help("The box."),
                Argument("thing", count: .any, as: .bytes, appendingTo: \.things).help("A thing."),
            ]
        }

        static var flags: [Flag<Self>] {
            Flag("into", value: "dir", as: .directory, to: \.directory).help("Where.").required
            Flag("force", sets: \.isForced).help("Force.")
            Flag("skip", value: "x", as: .bytes, appendingTo: \.skipped).help("Skip.")
            Flag("label", short: "l", value: "text", as: .text, to: \.label).help("Label.")
            Flag("quiet", short: "q", sets: \.isQuiet).help("Say nothing.")
        }

        var words: [[UInt8]] { box + things }
    }

    private func parse(_ words: [String]) throws -> Pack {
        try parse(words.map { [UInt8]($0.utf8) })
    }

    private func parse(_ words: [[UInt8]]) throws -> Pack {
        guard case .command(let pack) = try ArgumentParser<Pack>().parse(words) else {
            throw UsageError("help")
        }
        return pack
    }

    @Test(arguments: [
        ["--into", "d", "a", "b"], ["a", "--into=d", "b"], ["--into", "d", "--", "a", "b"],
        ["a", "b", "--into", "d", "--"],
    ])
    func `takes options in every form and place`(_ words: [String]) throws {
        let arguments = try parse(words)
        #expect(arguments.words == [[UInt8]("a".utf8), [UInt8]("b".utf8)])
        #expect(arguments.directory == "d")
        #expect(!arguments.isForced)
    }

    @Test func `collects repeated options in their order`() throws {
        let arguments = try parse(["a", "--into=d", "--skip", "1", "--skip=2", "--skip", "-3"])
        #expect(arguments.skipped == ["1", "2", "-3"].map { [UInt8]($0.utf8) })
    }

    @Test func `takes a single dash and what follows two dashes as arguments`() throws {
        let arguments = try parse(["-", "--into", "-", "--force", "--", "--skip", "-h", "--"])
        #expect(
            arguments.words.map { String(decoding: $0, as: UTF8.self) } == [
                "-", "--skip", "-h", "--",
            ]
        )
        #expect(arguments.directory == "-")
        #expect(arguments.isForced)
    }

    @Test func `keeps equals signs and empty text in a value`() throws {
        #expect(try parse(["a", "--into=x=y"]).directory == "x=y")
        #expect(try parse(["a", "--into=d", "--skip="]).skipped == [[]])
    }

    @Test func `keeps bytes that are no text until text is asked for`() throws {
        let words: [[UInt8]] = [[0xFF], [UInt8]("--into".utf8), [0x61, 0xE9]]
        let arguments = try parse(words)
        #expect(arguments.words == [[0xFF]])
        #expect(arguments.directory == BytePath([0x61, 0xE9]))
        let label = [UInt8]("--label".utf8)
        let error = #expect(throws: UsageError.self) { try parse(words + [label, [0x61, 0xE9]]) }
        #expect(error?.message == "the value 'a\\xE9' of option '--label' is not valid UTF-8")
    }

    @Test func `takes short names`() throws {
        let arguments = try parse(["-q", "a", "-l", "x", "--into=d"])
        #expect(arguments.isQuiet)
        #expect(arguments.label == "x")
        #expect(try parse(["a", "--into=d", "-l=y"]).label == "y")
    }

    @Test(arguments: ["-h", "--help"])
    func `asks for help before anything is missed`(_ word: String) throws {
        let outcome = try ArgumentParser<Pack>().parse([[UInt8](word.utf8)])
        guard case .help = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test(arguments: [
        (["a", "--inot", "d"], "unknown option '--inot'; did you mean '--into'?"),
        (["a", "--fo"], "unknown option '--fo'; did you mean '--force'?"),
        (["a", "-force"], "unknown option '-force'; did you mean '--force'?"),
        (["a", "--xyzzy=1"], "unknown option '--xyzzy'"),
        (["a", "-x"], "unknown option '-x'"),
        (["a\n", "--\u{1B}[1m"], "unknown option '--\\x1B[1m'"),
        (["a", "--force=1", "--into=d"], "option '--force' takes no value"),
        (["a", "--into"], "option '--into' needs a value: --into <dir>"),
        (
            ["a", "--into", "--force"],
            "option '--into' needs a value before '--force': --into <dir>, "
                + "or '--into=...' for a value that begins with '--'"
        ),
        (["a", "--into=d", "--into=e"], "option '--into' is given twice"),
        (["a"], "option '--into <dir>' is missing"),
        (["--into", "d"], "argument '<box>' is missing"),
    ])
    func `names what is wrong`(_ words: [String], _ message: String) {
        let error = #expect(throws: UsageError.self) { try parse(words) }
        #expect(error?.message == message)
        #expect(error?.command?.name == "pack")
    }
}
