import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct FailedExportTests {
    private func export(_ place: Workplace, _ options: String...) throws -> MigrateCommand.Result {
        try MigrateCommand.run(
            ["export", "--container", place.path("source"), "--out", place.path("archive")]
                + options
        )
    }

    @Test func `keeps an archive that is there, unless told to replace it`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.write([1, 2, 3], to: "archive")
        let refused = try export(place)
        refused.expectFailure(73)
        #expect(refused.errors.contains(place.path("archive")))
        #expect(try place.bytes(of: "archive") == [1, 2, 3])
        #expect(try export(place, "--force").exitCode == 0)
        #expect(try place.bytes(of: "archive").count > 100)
        #expect(try place.names() == ["archive", "source"])
    }

    @Test func `leaves no archive where strictness forbids an omission`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("mkfifo source/Documents/pipe")
        let refused = try export(place, "--strict")
        refused.expectFailure(1)
        #expect(refused.errors.contains("Documents/pipe"))
        #expect(try place.names() == ["source"])
        let lenient = try export(place)
        #expect(lenient.exitCode == 0)
        #expect(lenient.output.contains("left out: Documents/pipe (special file fifo)"))
    }

    @Test(arguments: ["mkdir archive", "mkfifo archive", "ln -s nowhere archive"])
    func `never replaces what is no file`(_ script: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell(script)
        for options in [[], ["--force"]] {
            let result = try MigrateCommand.run(
                ["export", "--container", place.path("source"), "--out", place.path("archive")]
                    + options
            )
            result.expectFailure(73)
        }
        let kinds = try place.shell("test -d archive || test -p archive || test -L archive")
        #expect(kinds.exitCode == 0)
        #expect(try place.names() == ["archive", "source"])
    }

    @Test(arguments: [[], ["--force"]])
    func `refuses the root directory for an archive`(_ options: [String]) throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try MigrateCommand.run(
            ["export", "--container", place.path("source"), "--out", "/"] + options
        )
        result.expectFailure(73)
        #expect(!FileManager.default.fileExists(atPath: "/.partial"))
    }

    @Test func `refuses at once what is more than an archive holds`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("truncate -s 600G source/Documents/large; cd source; cp Documents/large .")
        let result = try export(place)
        result.expectFailure(1)
        let message = "an archive holds at most 1 TiB, and the container holds more"
        #expect(result.errors.contains(message))
        #expect(try place.names() == ["source"])
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `counts files that claim more than there are numbers`() throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            mkdir source && mount -t tmpfs none source || exit 99
            mkdir source/tmp && truncate -s 7E source/tmp/1 source/tmp/2 source/tmp/3
            $migrate export --container source --out archive; code=$?
            umount source; exit $code
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("left out: tmp (18.4 EB, by default)"), "\(result.output)")
    }

    @Test(arguments: ["missing/archive", "file/archive"])
    func `says that the output has no directory`(_ name: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.write([], to: "file")
        let result = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path(name)
        )
        result.expectFailure(73)
        let missing = name == "missing/archive" ? "missing" : name
        #expect(result.errors.contains(": \(place.path(missing)): "))
        let hint = "; the directory of --out must exist\n"
        #expect(result.errors.hasSuffix(hint) == (name == "missing/archive"))
        #expect(try place.names() == ["file", "source"])
    }

    @Test(arguments: ["--report", "--result"])
    func `names the flag of a file that has no directory, before the work`(_ flag: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive"),
            flag,
            place.path("missing/file")
        )
        result.expectFailure(73)
        #expect(result.errors.contains(" of \(flag) can't be "))
        #expect(result.errors.contains(place.path("missing/file")))
        #expect(!result.errors.contains("--out"))
        #expect(try place.names() == ["source"])
    }

    @Test(arguments: ["source/archive", "source/Documents/empty/archive"])
    func `does not archive itself`(_ name: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        let before = try place.tree("source").keys.sorted()
        let result = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path(name)
        )
        result.expectFailure(64)
        #expect(result.errors.contains("the archive would contain itself"))
        #expect(try place.tree("source").keys.sorted() == before)
    }

    @Test func `does not archive its own standard output`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try place.shell("$migrate export --container source --out - > source/archive")
        #expect(result.exitCode == 64)
        #expect(result.errorLine?.contains("the archive would contain itself") ?? false)
    }

    @Test func `names the output that is full`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let result = try MigrateCommand.run(
            ["export", "--container", place.path("source"), "--out", "-"],
            output: .path("/dev/full")
        )
        #expect(result.exitCode == 73)
        let expected = "migrate: error: export standard output: writing the archive failed: "
        let cause = "No space left on device (write); '--out' may name a place with more space"
        #expect(result.errorLine == expected + cause)
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `leaves nothing on a file system that fills up`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        let result = try place.shell(
            """
            mkdir small && mount -t tmpfs -o size=4m none small || exit 99
            $migrate export --container source --out small/archive; code=$?
            ls -A small; umount small; exit $code
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        result.expectFailure(73)
        #expect(result.errors.contains(" small/archive: "))
    }

    @Test(
        .enabled(if: !Machine.isRoot || Machine.has("setpriv"), "needs an ordinary user"),
        arguments: ["Documents/none", "Documents/empty"]
    )
    func `names a file that can't be read`(_ name: String) throws {
        try expectFirstUnreadable(name, after: "chmod 000 source/\(name)")
    }

    @Test(
        .enabled(if: !Machine.isRoot || Machine.has("setpriv"), "needs an ordinary user"),
        arguments: [1, 2, 4]
    )
    func `names the first of the files that can't be read`(_ threads: Int) throws {
        // The names of the first directory can be listed, but nothing is known of its files.
        let script = """
            cd source/Documents; mkdir 1 2; touch 1/file; chmod 444 1; chmod 000 2; cd ../..
            """
        try expectFirstUnreadable("Documents/1/file", after: script, "--threads \(threads)")
    }

    /// Exports as an ordinary user, whose error must name `name`.
    private func expectFirstUnreadable(
        _ name: String,
        after script: String,
        _ options: String = ""
    ) throws {
        let place = try Workplace()
        try place.makeContainer()
        // The user can't write a profile of the coverage into this directory.
        let user =
            "env LLVM_PROFILE_FILE=/dev/null "
            + (Machine.isRoot ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : "")
        let usable = try place.shell("chmod 777 .; \(script); \(user) $migrate --version")
        if usable.exitCode != 0 { try Test.cancel("an ordinary user can't run the binary") }
        try place.shell("chown -R 65534 source 2>&1")
        let result = try place.shell(
            "\(user) $migrate export --container source --out archive \(options)"
        )
        result.expectFailure(1)
        let expected = "migrate: error: export source: can't be read: \(name): Permission denied"
        #expect(result.errorLine?.hasPrefix(expected) ?? false, "\(result.errors)")
        #expect(try place.names() == ["source"])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `leaves the older archive alone when a signal ends it`(_ signal: Int32) throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("truncate -s 900G source/Documents/endless")
        try place.write([1, 2, 3], to: "archive")
        let words = [
            "export", "--container", place.path("source"), "--out", place.path("archive"),
            "--force",
        ]
        let command = try MigrateCommand.start(words.map { [UInt8]($0.utf8) })
        try place.wait { place.exists("archive.partial") }
        command.send(signal)
        let result = try command.wait()
        #expect(result.exitCode == 128 + signal)
        #expect(result.errors == "migrate: interrupted\n")
        #expect(result.standardOutput.isEmpty)
        #expect(try place.names() == ["archive", "source"])
        #expect(try place.bytes(of: "archive") == [1, 2, 3])
    }

    @Test func `takes over what a killed export left`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("truncate -s 900G source/Documents/endless")
        let words = ["export", "--container", place.path("source"), "--out", place.path("archive")]
        let command = try MigrateCommand.start(words.map { [UInt8]($0.utf8) })
        try place.wait { place.exists("archive.partial") }
        command.send(SIGKILL)
        #expect(try command.wait().signal == SIGKILL)
        #expect(!place.exists("archive"))
        try place.shell("rm source/Documents/endless")
        #expect(try export(place).exitCode == 0)
        #expect(try place.names() == ["archive", "source"])
    }
}
