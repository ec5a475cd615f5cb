import Foundation
import Glibc
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct RunTests {
    @Test func `tells the app its container and passes its exit code on`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try place.shell(
            "$migrate run --container source/ -- sh -c 'echo \"$MIGRATION_CONTAINER\"; exit 42'"
        )
        #expect(result.exitCode == 42)
        #expect(result.output == place.path("source") + "\n")
        #expect(result.errors.isEmpty)
    }

    @Test func `passes arguments and streams on as they are`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let odd: [UInt8] = [0xFF, 0x0A, 0x1B, 0x20, 0x27, 0xC3]
        let words = ["run", "--container", place.path("source"), "--", "printf", "%s|%s|%s"]
        let result = try MigrateCommand.start(
            words.map { [UInt8]($0.utf8) } + [odd, [], [UInt8]("--help".utf8)]
        ).wait()
        #expect(result.exitCode == 0)
        #expect(result.standardOutput == odd + [UInt8]("||--help".utf8))
        let echo = try place.migrate(
            "run",
            "--container",
            place.path("source"),
            "--",
            "cat",
            input: odd
        )
        #expect(echo.standardOutput == odd)
    }

    @Test func `names a command that can't be run`() throws {
        let place = try Workplace()
        try place.makeContainer()
        // An unsearchable directory would be another reason.
        let result = try MigrateCommand.run(
            ["run", "--container", place.path("source"), "--", "no\u{7}"],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        result.expectFailure(127)
        let expected = "migrate: error: run \(place.path("source")): the command can't be run: "
        #expect(result.errorLine?.hasPrefix(expected + "no\\x07: No such file") ?? false)
    }

    /// Makes a container into which something was imported.
    private func imported() throws -> Workplace {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let arguments = ["import", place.path("archive"), "--container", place.path("new")]
        #expect(try MigrateCommand.run(arguments).exitCode == 0)
        return place
    }

    @Test func `warns where the app leaves the status set that it asked for`() throws {
        let place = try imported()
        let run = ["run", "--container", place.path("new"), "--", "sh", "-c"]
        let unasked = try MigrateCommand.run(run + ["echo out; exit 5"])
        #expect(unasked.exitCode == 5)
        #expect(unasked.output == "out\n")
        #expect(unasked.errorLine?.hasPrefix("migrate: note: the import status of ") ?? false)
        #expect(unasked.errors.contains(" is still set; the app did not ask for it"))
        MigrationStatus.containerDirectory = URL(filePath: place.path("new"))
        defer { MigrationStatus.containerDirectory = nil }
        guard case .success? = MigrationStatus.importStatus else {
            Issue.record("no success")
            return
        }
        let asked = try MigrateCommand.run(run + ["exit 6"])
        #expect(asked.exitCode == 6)
        #expect(asked.errorLine?.hasPrefix("migrate: warning: the import status of ") ?? false)
        #expect(asked.errors.contains(" is still set, though the app asked for it on "))
        let status = try place.migrate("status", "--container", place.path("new"))
        #expect(status.output.contains(", and not cleared since\n"), "\(status.output)")
        let answer = try place.migrate("status", "--container", place.path("new"), "--json")
        #expect(answer.output.contains("\"readDate\" : \"2"))
        let cleared = try MigrateCommand.run(
            run + ["\(MigrateCommand.path) status --clear --container \"$MIGRATION_CONTAINER\""]
        )
        #expect(cleared.exitCode == 0)
        #expect(cleared.errors.isEmpty, "\(cleared.errors)")
        #expect(try MigrateCommand.run(run + ["exit 7"]).errors.isEmpty)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGPIPE])
    func `an app with a status gets its signals, and ends its run as it ended`(
        _ signal: Int32
    ) throws {
        let place = try imported()
        let words = ["run", "--container", place.path("new"), "--", "sh", "-c"]
        let own = try MigrateCommand.run(words + ["kill -\(signal) $$; exit 3"])
        #expect(own.signal == signal)
        guard signal != SIGPIPE else { return }
        let app = try MigrateCommand.start(
            (words + ["trap 'exit 9' \(signal); echo started; while :; do sleep 0.1; done"]).map {
                [UInt8]($0.utf8)
            },
            output: .unread
        )
        app.waitUntilItWrites()
        let busy = ["export", "--container", place.path("new"), "--out", place.path("out")]
        #expect(try MigrateCommand.run(busy).exitCode == 75)
        app.send(signal)
        #expect(try app.wait().exitCode == 9)
        #expect(try MigrateCommand.run(busy).exitCode == 0)
    }

    @Test func `leaves signals to the app`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try place.migrate(
            "run",
            "--container",
            place.path("source"),
            "--",
            "sh",
            "-c",
            "kill -PIPE $$; exit 3"
        )
        #expect(result.signal == SIGPIPE)
    }

    @Test(arguments: ["clearing", "filling", "restoring"])
    func `starts no app where an import was cut off in its commit`(_ phase: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        let first = try place.startApp()
        try place.shell(
            """
            mkdir -p source/.migration
            echo '{"phase":"\(phase)","version":1}' > source/.migration/import-journal.json
            """
        )
        let source = place.path("source")
        let second = try place.migrate("run", "--container", source, "--", "echo", "started")
        second.expectFailure(75)
        #expect(second.errors.contains("an import was interrupted during its commit"))
        first.send(SIGTERM)
        #expect(try first.wait().signal == SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `keeps migrations out until the app ends`(_ signal: Int32) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let source = place.path("source")
        let app = try place.startApp()
        let migrations = [
            ["export", "--container", source, "--out", place.path("out")],
            ["import", place.path("archive"), "--container", source, "--replace"],
        ]
        for arguments in migrations {
            let result = try MigrateCommand.run(arguments)
            result.expectFailure(75)
            #expect(result.errors.contains("the container is in use"))
        }
        #expect(try place.names() == ["archive", "source"])
        #expect(try place.migrate("run", "--container", source, "--", "true").exitCode == 0)
        app.send(signal)
        #expect(try app.wait().signal == signal)
        for arguments in migrations {
            #expect(try MigrateCommand.run(arguments).exitCode == 0)
        }
    }
    @Test(arguments: [
        ["export", "--out", "out"], ["import", "archive", "--replace"], ["diff", "archive"],
        ["run", "--wait", "86400", "--", "true"],
    ])
    func `names the process that holds the container, and waits for it`(
        _ words: [String]
    ) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let source = place.path("source")
        let arguments =
            [words[0], "--container", source]
            + words.dropFirst().map { ["out", "archive"].contains($0) ? place.path($0) : $0 }
        let holder = try LockHolder(BytePath(source), LOCK_EX)
        let hasty = try MigrateCommand.run(arguments.filter { !["--wait", "86400"].contains($0) })
        hasty.expectFailure(75)
        let reason = "the container is in use by process \(getpid())"
        #expect(hasty.errors.contains(reason))
        #expect(hasty.errors.hasSuffix("; use --wait <s> to wait for it\n"))
        let isGiven = arguments.contains("--wait")
        let patient = try MigrateCommand.start(
            (arguments + (isGiven ? [] : ["--wait", "86400"])).map { [UInt8]($0.utf8) }
        )
        let notice = "migrate: \(reason); waiting at most 1,440m\n"
        while String(decoding: try patient.errorsSoFar(), as: UTF8.self) != notice {
            #expect(kill(patient.process, 0) == 0)
            usleep(10_000)
        }
        holder.release()
        let result = try patient.wait()
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test func `ends its wait with a signal`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let source = place.path("source")
        let holder = try LockHolder(BytePath(source), LOCK_EX)
        let words = ["export", "--container", source, "--out", place.path("out"), "--wait", "9"]
        let command = try MigrateCommand.start(words.map { [UInt8]($0.utf8) })
        while try command.errorsSoFar().isEmpty { usleep(10_000) }
        command.send(SIGTERM)
        let result = try command.wait()
        // On a busy machine the nine seconds may be over first.
        #expect([75, 143].contains(result.exitCode))
        #expect(try place.names() == ["source"])
        holder.release()
    }
}
