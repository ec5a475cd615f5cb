import Glibc
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
        // A directory that may not be searched would be another reason.
        let result = try MigrateCommand.run(
            ["run", "--container", place.path("source"), "--", "no\u{7}"],
            environment: ["PATH": "/usr/bin:/bin"]
        )
        result.expectFailure(1)
        let expected = "migrate: error: run \(place.path("source")): the command can't be run: "
        #expect(result.errorLine?.hasPrefix(expected + "no\\x07: No such file") ?? false)
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
        #expect(second.errors.contains("an import was cut off in its commit"))
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
}
