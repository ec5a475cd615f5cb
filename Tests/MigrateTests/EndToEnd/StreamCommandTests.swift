import Foundation
import Glibc
import TestSupport
import Testing

/// Archives that a command takes or gives.
@Suite(.scratchDirectory)
struct StreamCommandTests {
    private static let export = "$migrate export --container source"
    private static let importing = "$migrate import --container copy"

    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    /// Starts an export of the container into `command`, in the test's directory.
    private func startExport(into command: String) throws -> MigrateCommand {
        let script = "cd \"$0\" && exec \"$migrate\" export --container source --out-command \"$1\""
        let words = ["-c", script, place.directory.path, command]
        return try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) },
            program: "/bin/sh",
            environment: ["migrate": MigrateCommand.path]
        )
    }

    /// Waits until no process works in the test's directory.
    private func waitUntilNobodyIsLeft() throws {
        let directory = place.directory.resolvingSymlinksInPath().path
        try place.wait {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").allSatisfy { process in
                guard pid_t(process) != nil else { return true }
                let path = "/proc/\(process)/cwd"
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                return target != directory
            }
        }
    }

    // MARK: - Exports

    @Test(arguments: [
        "cat > taken", "cat | cat > taken", "setsid sh -c 'sleep 0.1; cat > taken'",
        "exec 3<&0; (sleep 0.1; cat <&3 > taken) &",
    ])
    func `gives the command the whole archive, and waits for all of it`(_ command: String) throws {
        try place.makeContainer(megabytes: 5)
        let archive = try place.export()
        let result = try place.shell("\(Self.export) --out-command \"\(command)\"")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        #expect(try place.bytes(of: "taken") == archive)
    }

    @Test func `tells the command the estimated size`() throws {
        try place.makeContainer()
        let result = try place.shell(
            "\(Self.export) --out-command 'echo {bytes} {bytes} > sizes; cat > taken' --json"
        )
        #expect(result.exitCode == 0)
        let answer = try JSONSerialization.jsonObject(with: Data(result.standardOutput))
        let header = (answer as? [String: Any])?["header"] as? [String: Any]
        let estimate = try #require(header?["sizeEstimate"] as? Int)
        let sizes = String(decoding: try place.bytes(of: "sizes"), as: UTF8.self)
        #expect(sizes == "\(estimate) \(estimate)\n")
    }

    @Test func `answers with what the command printed and how it ended`() throws {
        try place.makeContainer()
        let command = "cat > /dev/null; echo stored; echo \\\\033[1m >&2"
        let result = try place.shell("\(Self.export) --out-command '\(command)'")
        #expect(result.exitCode == 0)
        #expect(result.output.hasSuffix("the command printed:\n    stored\n    \\x1B[1m\n"))
        let json = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out-command",
            command,
            "--json"
        )
        let answer = try JSONSerialization.jsonObject(with: Data(json.standardOutput))
        let part = (answer as? [String: Any])?["command"] as? [String: Any]
        #expect(part?["exitCode"] as? Int == 0)
        #expect((part?["printed"] as? [String])?.first == "stored")
    }

    @Test(arguments: [
        ("cat > taken; echo no room >&2; exit 3", "ended with 3; it printed last:\n    no room\n"),
        ("exit 4", "ended with 4\n"),
        ("head -c 9 > taken", "ended before it had taken the whole archive\n"),
        ("cat > taken; kill -SEGV $$", "signal 11 ended the command\n"),
        ("nosuch", "ended with 127; it printed last:\n"),
    ])
    func `fails if the command does`(_ command: String, _ words: String) throws {
        try place.makeContainer(megabytes: 5)
        let result = try place.shell("\(Self.export) --out-command '\(command)'")
        #expect(result.exitCode == 74)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test func `kills the command of an export that fails`() throws {
        try place.makeContainer(megabytes: 5)
        try place.shell("mkfifo source/Documents/pipe")
        let command = "cat > taken && touch done"
        let result = try place.shell("\(Self.export) --strict --out-command '\(command)'")
        #expect(result.exitCode == 1)
        #expect(result.errors.contains("Documents/pipe"))
        #expect(!place.exists("done"))
    }

    @Test func `ends the command on a signal, and sees to it that nobody is left`() throws {
        try place.makeContainer(megabytes: 5)
        let command = try startExport(into: "head -c 1000 > f; setsid sleep 1000; touch done")
        try place.wait { place.exists("f") }
        command.send(SIGTERM)
        #expect(try command.wait().exitCode == 143)
        try waitUntilNobodyIsLeft()
        #expect(!place.exists("done"))
    }

    @Test(
        arguments: ["migrate", "guard"],
        [
            "cat > f && touch done", "cat | cat > f; touch done",
            "setsid sh -c 'cat > f && touch done'",
        ]
    )
    func `never shows the command an end that is none`(_ victim: String, _ text: String) throws {
        try place.makeContainer(megabytes: 5)
        // Nobody opens it, so the command waits forever.
        try place.shell("mkfifo go")
        let command = try startExport(into: "head -c 100000 > f; cat go > /dev/null; \(text)")
        try place.wait { (try? place.bytes(of: "f").count) == 100_000 }
        let process =
            victim == "guard" ? try #require(try command.children().first) : command.process
        kill(process, SIGKILL)
        let result = try command.wait()
        if victim == "guard" {
            #expect(result.exitCode == 74)
            #expect(result.errors.contains("the process that guards the command was killed"))
        } else {
            #expect(result.signal == SIGKILL)
        }
        try waitUntilNobodyIsLeft()
        #expect(!place.exists("done"))
    }

    // MARK: - Imports

    @Test func `imports what a command gives`() throws {
        try place.makeContainer(megabytes: 2)
        try place.export()
        let result = try place.shell(
            "\(Self.importing) --in-command 'cat archive; echo fetched >&2' --json"
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("fetched"))
        #expect(
            try place.tree("copy")["Documents/noise"] == place.tree("source")["Documents/noise"]
        )
    }

    @Test(arguments: [
        ("cat archive; exit 9", "ended with 9"), ("head -c 1000 archive; exit 22", "ended with 22"),
        ("cat archive; kill -KILL $$", "signal 9 ended the command"), ("exit 1", "ended with 1"),
    ])
    func `changes nothing if the command fails, even behind a whole archive`(
        _ command: String,
        _ words: String
    ) throws {
        try place.makeContainer(megabytes: 2)
        try place.export()
        try place.shell("mkdir -p copy/Documents && echo mine > copy/Documents/mine")
        let before = try place.tree("copy")
        let result = try place.shell("\(Self.importing) --replace --in-command '\(command)'")
        #expect(result.exitCode == 74, "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(try place.tree("copy") == before)
    }

    @Test func `takes either an archive or a command`() throws {
        try place.makeContainer()
        try place.export()
        let both = try place.shell("\(Self.importing) archive --in-command 'cat archive'")
        #expect(both.exitCode == 64)
        #expect(both.errors.hasPrefix("migrate: error: unexpected argument 'archive'\n"))
        let neither = try place.shell(Self.export)
        #expect(neither.exitCode == 64)
        #expect(neither.errors.contains("option '--out <archive>' or '--out-command' is missing"))
        let two = try place.shell("\(Self.export) --out archive --out-command cat")
        #expect(two.exitCode == 64)
        let missing = try place.shell(Self.importing)
        #expect(missing.exitCode == 64)
        #expect(missing.errors.contains("argument '[<archive>]' is missing"))
    }
}
