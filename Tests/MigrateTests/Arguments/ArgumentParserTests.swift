import Testing

@testable import migrate

struct ArgumentParserTests {
    private let command = CommandDescription(
        name: "pack",
        abstract: "Pack things.",
        arguments: [
            ArgumentDescription(name: "box", help: "The box."),
            ArgumentDescription(name: "thing", help: "A thing.", count: .any),
        ],
        options: [
            OptionDescription(name: "into", help: "Where.", valueName: "dir", isRequired: true),
            OptionDescription(name: "force", help: "Force."),
            OptionDescription(name: "skip", help: "Skip.", valueName: "x", isRepeatable: true),
        ]
    )

    private func parse(_ words: [String]) throws -> ParsedArguments {
        let bytes = words.map { [UInt8]($0.utf8) }
        guard case .arguments(let arguments) = try ArgumentParser(command: command).parse(bytes)
        else { throw UsageError("help") }
        return arguments
    }

    @Test(arguments: [
        ["--into", "d", "a", "b"], ["a", "--into=d", "b"], ["--into", "d", "--", "a", "b"],
        ["a", "b", "--into", "d", "--"],
    ])
    func `takes options in every form and place`(_ words: [String]) throws {
        let arguments = try parse(words)
        #expect(arguments.words == [[UInt8]("a".utf8), [UInt8]("b".utf8)])
        #expect(try arguments.text("into") == "d")
        #expect(!arguments.has("force"))
    }

    @Test func `collects repeated options in their order`() throws {
        let arguments = try parse(["a", "--into=d", "--skip", "1", "--skip=2", "--skip", "-3"])
        #expect(try arguments.texts("skip") == ["1", "2", "-3"])
    }

    @Test func `takes a single dash and what follows two dashes as arguments`() throws {
        let arguments = try parse(["-", "--into", "-", "--force", "--", "--skip", "-h", "--"])
        #expect(
            arguments.words.map { String(decoding: $0, as: UTF8.self) } == [
                "-", "--skip", "-h", "--",
            ]
        )
        #expect(try arguments.path("into") == [UInt8(ascii: "-")])
        #expect(arguments.has("force"))
    }

    @Test func `keeps equals signs and empty text in a value`() throws {
        #expect(try parse(["a", "--into=x=y"]).text("into") == "x=y")
        #expect(try parse(["a", "--into=d", "--skip="]).values["skip"] == [[]])
    }

    @Test func `keeps bytes that are no text until text is asked for`() throws {
        let words: [[UInt8]] = [[0xFF], [UInt8]("--into".utf8), [0x61, 0xE9]]
        guard case .arguments(let arguments) = try ArgumentParser(command: command).parse(words)
        else { throw UsageError("help") }
        #expect(arguments.words == [[0xFF]])
        #expect(try arguments.path("into") == [0x61, 0xE9])
        let error = #expect(throws: UsageError.self) { try arguments.text("into") }
        #expect(error?.message == "the value 'a\\xE9' of option '--into' is no UTF-8 text")
    }

    @Test(arguments: ["-h", "--help"])
    func `asks for help before anything is missed`(_ word: String) throws {
        let outcome = try ArgumentParser(command: command).parse([[UInt8](word.utf8)])
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
