import Glibc
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct FailedImportTests {
    @Test func `refuses a container that holds data, unless told to replace it`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        try place.shell("mkdir target; echo old > target/data")
        let before = try place.tree("target")
        let arguments = ["import", place.path("archive"), "--container", place.path("target")]
        let refused = try MigrateCommand.run(arguments)
        refused.expectFailure(73)
        #expect(refused.errors.contains(": the container already holds data: "))
        #expect(refused.errors.contains("; use --replace to replace it\n"))
        #expect(try place.tree("target") == before)
        #expect(!place.exists("target/.migration"))

        let replaced = try MigrateCommand.run(arguments + ["--replace"])
        #expect(replaced.exitCode == 0)
        #expect(replaced.output.contains("\nreplaced 1 file, 0 directories, 0 links; 4 B\n"))
        #expect(replaced.output.contains("\nreplaced  data: 1 file, "))
        #expect(!place.exists("target/data"))
        #expect(try place.names() == ["archive", "source", "target"])
    }

    @Test func `refuses the archive of another app`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let exported = try place.shell(
            "\"$migrate\" export --container source --out archive --bundle-id source"
        )
        try #require(exported.exitCode == 0, "\(exported.errors)")
        let result = try place.migrate(
            "import",
            place.path("archive"),
            "--container",
            place.path("target"),
            "--bundle-id",
            "com.example\u{1B}[31m"
        )
        result.expectFailure(1)
        let message = "belongs to source, the container to com.example\\x1B[31m"
        #expect(result.errors.contains(message))
        #expect(!place.exists("target"))
    }

    @Test(arguments: ["archive", "link", "missing/target"])
    func `refuses what is no container`(_ name: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        try place.shell("mkdir real; ln -s real link")
        let container = place.path(name)
        for arguments in [
            ["import", place.path("archive"), "--container", container],
            ["export", "--out", place.path("out"), "--container", container],
            ["diff", place.path("archive"), "--container", container],
            ["status", "--container", container],
            ["run", "--container", container, "--", "true"],
        ] {
            let result = try MigrateCommand.run(arguments)
            result.expectFailure(arguments[0] == "diff" ? 2 : 1)
            // A missing parent is named itself.
            let isNamed =
                result.errors.ranges(of: container).count == 1
                || result.errors.contains("\(place.path("missing")): No such file")
            #expect(isNamed, "\(result.errors)")
        }
        #expect(try place.names() == ["archive", "link", "real", "source"])
    }

    @Test(arguments: ["status", "run", "diff", "export"])
    func `says that there is no container`(_ command: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let words = [
            "diff": [place.path("archive")], "export": ["--out", place.path("out")],
        ]
        let arguments = [command] + (words[command] ?? []) + ["--container", place.path("none")]
        let result = try MigrateCommand.run(arguments + (command == "run" ? ["--", "true"] : []))
        result.expectFailure(command == "diff" ? 2 : 1)
        #expect(result.errors.contains("there is no container: \(place.path("none"))\n"))
        #expect(try place.names() == ["archive", "source"])
    }

    /// Makes a container with data and starts an import into it that gets half of an archive.
    private func startImport(_ place: Workplace) throws -> MigrateCommand {
        try place.makeContainer(megabytes: 9)
        let archive = try place.export()
        try place.shell("mkdir target; echo old > target/data")
        let command = try place.startStalled(
            "import",
            "-",
            "--container",
            place.path("target"),
            "--replace",
            input: [UInt8](archive[..<(archive.count / 2)])
        )
        try place.wait { place.exists(".target.migration-staging/container/Documents") }
        return command
    }

    @Test func `holds the container while it imports`() throws {
        let place = try Workplace()
        let command = try startImport(place)
        let target = place.path("target")
        for arguments in [
            ["run", "--container", target, "--", "true"],
            ["export", "--container", target, "--out", place.path("out")],
            ["import", place.path("archive"), "--container", target, "--replace"],
        ] {
            let result = try MigrateCommand.run(arguments)
            result.expectFailure(75)
            #expect(result.errors.contains("the container is in use"))
        }
        command.send(SIGTERM)
        #expect(try command.wait().exitCode == 143)
        #expect(try place.migrate("run", "--container", target, "--", "true").exitCode == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `leaves the container as it was when a signal ends it`(_ signal: Int32) throws {
        let place = try Workplace()
        let command = try startImport(place)
        let before = try place.tree("target")
        command.send(signal)
        let result = try command.wait()
        #expect(result.exitCode == 128 + signal)
        #expect(result.errors == "migrate: interrupted\n")
        #expect(try place.tree("target") == before)
        #expect(try place.names() == ["archive", "source", "target"])
        let status = try place.migrate("status", "--container", place.path("target"))
        #expect(status.output.hasPrefix("interrupted\n"))
    }

    @Test func `is cleaned up after when it is killed`() throws {
        let place = try Workplace()
        let command = try startImport(place)
        let before = try place.tree("target")
        command.send(SIGKILL)
        #expect(try command.wait().signal == SIGKILL)
        #expect(try place.tree("target") == before)
        #expect(place.exists(".target.migration-staging"))
        let status = try place.migrate("status", "--container", place.path("target"))
        #expect(status.exitCode == 4)
        #expect(status.output.hasPrefix("interrupted\n"))
        #expect(try place.tree("target") == before)
        #expect(try place.names() == ["archive", "source", "target"])
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `leaves nothing on a file system that fills up`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let result = try place.shell(
            """
            mkdir small && mount -t tmpfs -o size=4m none small && mkdir small/old || exit 99
            echo old > small/old/data
            $migrate import archive --container small/target; echo $?
            cat archive | $migrate import - --container small/old --replace; echo $?
            $migrate extract archive --to small/out; echo $?
            tar -cf - -C source . | $migrate import - --container small/tar; echo $?
            ls -A small; cat small/old/data; umount small
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        let answer = "73\n73\n73\n73\nold\nold\n"
        #expect(result.output == answer)
        #expect(result.errors.split(separator: "\n").count == 4)
        #expect(result.errors.split(separator: "\n").allSatisfy { $0.contains("small/") })
    }
}
