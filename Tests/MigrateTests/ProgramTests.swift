import Foundation
import Glibc
import Testing

@testable import migrate

struct ProgramTests {
    @Test(arguments: [["--help"], ["-h"], ["help"], ["help", "--help"]])
    func `prints the program's help on standard output`(_ arguments: [String]) throws {
        let result = try MigrateCommand.run(arguments)
        #expect(result.exitCode == 0)
        #expect(result.output == HelpPage(of: CommandCatalog.tree).text)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: CommandCatalog.tree.commands.map(\.name))
    func `prints a command's help on standard output`(_ name: String) throws {
        for arguments in [["help", name], [name, "--help"], [name, "-h"]] {
            let result = try MigrateCommand.run(arguments)
            #expect(result.exitCode == 0)
            #expect(result.output.hasPrefix("OVERVIEW: "))
            #expect(result.output.contains("\nUSAGE: migrate \(name)"))
            #expect(result.errors.isEmpty)
        }
    }

    @Test func `prints its version`() throws {
        let result = try MigrateCommand.run(["--version"])
        #expect(result.exitCode == 0)
        #expect(result.output == "migrate 0.1.0\n")
    }

    @Test func `explains wrong usage on standard error`() throws {
        let result = try MigrateCommand.run(["export", "--contaner", "x"])
        #expect(result.exitCode == 64)
        #expect(result.output.isEmpty)
        #expect(
            result.errors == """
                migrate: error: unknown option '--contaner'; did you mean '--container'?
                Usage: migrate export --container <dir> (--out <archive> | --out-command <command>) [<options>]
                See 'migrate export --help' for more.

                """
        )
    }

    @Test(arguments: [
        [], ["frobnicate"], ["help", "frobnicate"], ["inspect"], ["status"], ["inspect", "a", "b"],
        ["run", "--container", "x", "ls"], ["run", "--container", "x", "--"],
        ["completions", "tcsh"], ["import", "a", "--container", "c", "--threads", "0"],
        ["extract", "a", "--to", ""], ["verify", ""],
    ])
    func `refuses wrong usage`(_ arguments: [String]) throws {
        let result = try MigrateCommand.run(arguments)
        #expect(result.exitCode == 64)
        #expect(result.output.isEmpty)
        let lines = result.errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("migrate: error: "))
        #expect(lines[1].hasPrefix("Usage: migrate "))
        #expect(lines[2].hasPrefix("See 'migrate "))
    }

    @Test func `escapes bytes of the command line that are no text`() throws {
        let result = try MigrateCommand.start([[0x66, 0xFF, 0x0A]]).wait()
        #expect(result.exitCode == 64)
        #expect(result.errors.hasPrefix("migrate: error: unknown subcommand 'f\\xFF\\n'\n"))
    }

    @Test(arguments: Shell.allCases)
    func `prints completions`(_ shell: Shell) throws {
        let result = try MigrateCommand.run(["completions", shell.rawValue])
        #expect(result.exitCode == 0)
        #expect(result.output == shell.completionScript(for: CommandCatalog.tree))
    }

    @Test(arguments: [["--help"], ["completions", "bash"]])
    func `ends quietly when nobody reads`(_ arguments: [String]) throws {
        let result = try MigrateCommand.run(arguments, output: .withoutReader)
        #expect(result.exitCode == 128 + SIGPIPE)
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: [["--version"], ["completions", "zsh"]])
    func `fails when the answer can't be written`(_ arguments: [String]) throws {
        let result = try MigrateCommand.run(arguments, output: .path("/dev/full"))
        #expect(result.exitCode == 73)
        #expect(result.errors.contains("writing to standard output: No space left on device"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `ends on a signal though nobody reads`(_ signal: Int32) throws {
        let command = try MigrateCommand.start(
            [[UInt8]("completions".utf8), [UInt8]("zsh".utf8)],
            output: .unread
        )
        command.waitUntilItWrites()
        command.send(signal)
        let result = try command.wait()
        #expect(result.exitCode == 128 + signal)
        #expect(result.errors == "migrate: interrupted\n")
    }

    @Test func `says that its answer has nowhere to go`() throws {
        let result = try MigrateCommand.run(["--version"], output: .closed)
        #expect(result.exitCode == 73)
        #expect(result.errors == "migrate: error: standard output is closed\n")
    }

    @Test func `does not export into a closed standard output`() throws {
        let arguments = ["export", "--container", "/nonexistent", "--out", "-"]
        let result = try MigrateCommand.run(arguments, output: .closed)
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("standard output, which is closed"))
    }
}
