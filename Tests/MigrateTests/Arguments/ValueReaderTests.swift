import MigrationCore
import Testing

@testable import migrate

struct ValueReaderTests {
    private let flag = FlagDescription(name: "x", valueName: "v")

    private func read<Value>(_ text: String, as reader: ValueReader<Value>) throws -> Value {
        let bytes = [UInt8](text.utf8)
        do throws(ValueError) {
            return try reader.read(bytes)
        } catch {
            throw error.usageError(of: flag, value: bytes)
        }
    }

    @Test(arguments: [("1", 1), ("64", 64), ("007", 7)])
    func `reads numbers of a range`(_ text: String, _ number: Int) throws {
        #expect(try read(text, as: .number(in: 1...64)) == number)
    }

    @Test(arguments: ["", "0", "65", "-1", "+1", "1 ", "0x1", "99999999999999999999", "٣"])
    func `refuses other numbers`(_ text: String) {
        let error = #expect(throws: UsageError.self) {
            try read(text, as: .number(in: 1...64))
        }
        #expect(
            error?.message == "the value '\(text)' of option '--x' is not a number from 1 to 64"
        )
    }

    @Test func `reads a choice and names the nearest`() throws {
        #expect(try read("skip", as: ValueReader<ExternalLinkPolicy>.choice) == .skip)
        let error = #expect(throws: UsageError.self) {
            try read("kep", as: ValueReader<ExternalLinkPolicy>.choice)
        }
        #expect(
            error?.message == "the value 'kep' of option '--x' is not one of refuse, keep, skip; "
                + "did you mean 'keep'?"
        )
    }

    @Test func `refuses empty values where they can mean nothing`() {
        #expect(throws: UsageError.self) { try read("", as: .path) }
        #expect(throws: UsageError.self) { try read("", as: .text) }
    }

    @Test(arguments: [
        (["exp"], "unknown subcommand 'exp'; did you mean 'export'?"),
        (["imprto"], "unknown subcommand 'imprto'; did you mean 'import'?"),
        (["diiff"], "unknown subcommand 'diiff'; did you mean 'diff'?"),
        (["zzzzzzzz"], "unknown subcommand 'zzzzzzzz'"),
        (["--verison"], "unknown option '--verison'; did you mean '--version'?"),
        (["help", "lits"], "unknown subcommand 'lits'; did you mean 'list'?"),
        (["help", "list", "x"], "unexpected argument 'x'"),
        ([], "a subcommand is missing"),
        (
            ["run", "--container", "d", "ls"],
            "unexpected argument 'ls': put '--' before the command to run"
        ),
        (["run", "--container", "d"], "argument '-- <command>...' is missing"),
        (["inspect", "a", "b"], "unexpected argument 'b'"),
        (["completions", "fsh"], "unknown shell 'fsh'; did you mean 'fish'?"),
        (["completions", "tcsh"], "unknown shell 'tcsh'; it must be one of bash, zsh, fish"),
        (
            ["export", "--container", "c", "--out", "o", "--level", "20"],
            "the value '20' of option '--level' is not a number from 1 to 19"
        ),
    ])
    func `names a wrong subcommand or its words`(_ words: [String], _ message: String) {
        let error = #expect(throws: UsageError.self) {
            _ = try Invocation(words.map { [UInt8]($0.utf8) })
        }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ("", "export", 6), ("export", "", 6), ("export", "export", 0), ("exprot", "export", 1),
        ("import", "export", 2), ("list", "lits", 1), ("diff", "dif", 1), ("a", "b", 1),
    ])
    func `counts edits`(_ left: String, _ right: String, _ count: Int) {
        #expect(NearestWord.distance([UInt8](left.utf8), [UInt8](right.utf8)) == count)
    }
}
