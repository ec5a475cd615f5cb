import Foundation
import Glibc
import TestSupport
import Testing

/// The messages about an extension that can't run or fails.
@Suite(.scratchDirectory)
struct ExtensionFailureTests {
    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
    }

    private var place: Workplace { stage.place }
    private var archive: String { place.path("archive") }

    @Test func `starts nothing without an entitlement`() throws {
        try place.shell("rm entitlements")
        // The parent of this program would see the file.
        try place.shell("printf '#!/bin/sh\\ntouch \(place.path("ran"))\\n' > p; chmod 755 p")
        let words = ["--extension", place.path("p"), "--container", place.path("source")]
        for arguments in [["export", "--out", archive], ["import", archive]] {
            if arguments[0] == "import" { try place.export(as: "archive") }
            let result = try MigrateCommand.run(arguments + words + ["--no-sandbox"])
            result.expectFailure(77)
            #expect(result.errors.contains("has no entitlements at \(place.path("p"))"))
        }
        let preflight = try MigrateCommand.run(["preflight"] + words)
        #expect(preflight.exitCode == 1)
        let row = "entitlement  not valid: the extension was not started\n"
        #expect(preflight.output.contains(row))
        #expect(preflight.output.contains("\nfinding: entitlementMissing: the extension has no"))
        #expect(preflight.errors.isEmpty)
        #expect(!place.exists("ran"))
    }

    @Test(arguments: ["export", "preflight"])
    func `names a program that is missing`(_ command: String) throws {
        let words = command == "export" ? ["--out", archive] : []
        let result = try MigrateCommand.run(
            [command, "--container", place.path("source"), "--extension", place.path("p")] + words
        )
        result.expectFailure(1)
        let problem = "the program of '--extension' can't be found: \(place.path("p")): "
        #expect(result.errors.contains(problem + "No such file"))
    }

    @Test func `names an option that the extension does not know`() throws {
        try stage.script("append Documents/note")
        let result = try stage.run("export", "--out", archive, "--option", "thme=dark")
        result.expectFailure(1)
        #expect(result.errors.contains("has no option 'thme'; it has: account, theme"))
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test func `asks the extension before it extracts anything`() throws {
        try place.makeContainer("noise", megabytes: 10)
        let export = try place.migrate(
            "export",
            "--container",
            place.path("noise"),
            "--bundle-id",
            "com.example.noise",
            "--out",
            place.path("archive")
        )
        #expect(export.exitCode == 0, "\(export.errors)")
        var bytes = try place.bytes(of: "archive")
        bytes[bytes.count * 3 / 4] ^= 1
        try place.write(bytes, to: "archive")
        let result = try stage.run(["import", archive], container: "destination")
        #expect(result.exitCode == 65)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first?.hasPrefix("migrate: ScriptedExtensionProgram of ") ?? false)
        #expect(lines.last?.hasPrefix("migrate: error: import \(archive): ") ?? false)
        #expect(!place.exists("destination"))
    }

    @Test func `names an extension that is not there`() throws {
        let missing = place.path("missing")
        let result = try stage.run("export", "--out", archive, program: missing)
        result.expectFailure(1)
        let problem = "the program of '--extension' can't be found: \(missing): No such file"
        #expect(result.errors.contains(problem))
    }

    @Test func `says what the extension threw, and why`() throws {
        try stage.script("throw Notes 4 the notes are locked")
        let result = try stage.run("export", "--out", archive)
        #expect(result.exitCode == 1)
        let source = place.path("source")
        let expected = "migrate: error: export \(source): scripted-extension failed: "
        #expect(result.errors.hasSuffix(expected + "the notes are locked (Notes 4)\n"))
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test func `shows the last lines of a crash below its error`() throws {
        try stage.script("append Documents/note\nprint first\nprint second\nkill 9")
        let result = try stage.run("export", "--out", archive)
        #expect(result.exitCode == 1)
        let error = "scripted-extension crashed: signal 9 (Killed); it printed last:"
        #expect(result.errors.contains(": \(error)\n    first\n    second\n"), "\(result.errors)")
        #expect(result.errors.contains("\nscripted-extension: first\n"))
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test func `ends an extension that does nothing`() throws {
        try stage.script("sleep-on 60000")
        let result = try stage.run("export", "--out", archive, "--hang-timeout", "0.2")
        #expect(result.exitCode == 1)
        #expect(result.errors.contains("scripted-extension hung: it appended nothing and "))
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `leaves nothing behind when a signal ends an export`(_ signal: Int32) throws {
        try stage.script("append Documents/note\nprint waiting\nsleep 60000")
        let command = try stage.start(["export", "--out", archive])
        try place.wait { try command.hasPrinted("scripted-extension: waiting\n") }
        let child = try #require(command.children().first)
        command.send(signal)
        let result = try command.wait()
        #expect(result.exitCode == 128 + signal)
        #expect(result.errors.hasSuffix("\nmigrate: interrupted\n"))
        #expect(!result.errors.contains("error"))
        #expect(kill(child, 0) == -1 && errno == ESRCH)
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test func `names an extension that a signal did not stop`() throws {
        try stage.script("append Documents/note\nprint waiting\nsleep-on 60000")
        let command = try stage.start(["export", "--out", archive, "--grace-period", "0.1"])
        try place.wait { try command.hasPrinted("scripted-extension: waiting\n") }
        let child = try #require(command.children().first)
        command.send(SIGINT)
        let result = try command.wait()
        #expect(result.exitCode == 128 + SIGINT)
        let ending = "100ms after it was cancelled\nmigrate: interrupted\n"
        #expect(result.errors.contains(": scripted-extension was stopped: it still ran "))
        #expect(result.errors.hasSuffix(ending), "\(result.errors)")
        #expect(kill(child, 0) == -1 && errno == ESRCH)
        #expect(try place.names() == ["entitlements", "source"])
    }

    @Test func `stays out while the app runs, and keeps it out`() throws {
        try stage.script("append Documents/note\nprint waiting\nsleep 60000")
        let app = try place.startApp()
        for arguments in [["export", "--out", archive], ["preflight"]] {
            let result = try stage.run(arguments)
            result.expectFailure(75)
        }
        app.send(SIGTERM)
        #expect(try app.wait().signal == SIGTERM)
        let export = try stage.start(["export", "--out", archive])
        try place.wait { try export.hasPrinted("scripted-extension: waiting\n") }
        let second = try place.migrate("run", "--container", place.path("source"), "--", "true")
        second.expectFailure(75)
        export.send(SIGTERM)
        #expect(try export.wait().exitCode == 128 + SIGTERM)
    }
}
