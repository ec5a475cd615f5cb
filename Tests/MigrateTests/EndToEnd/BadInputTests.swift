import Foundation
import TestSupport
import Testing

/// Every input that must not be imported, against a container that holds data.
@Suite(.scratchDirectory)
struct BadInputTests {
    /// Makes a small archive and a container that holds other data.
    private func makePlace() throws -> (Workplace, archive: [UInt8]) {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("mkdir target; echo old > target/data; touch -d @1 target/data target")
        return (place, try place.export())
    }

    /// Imports `bytes` and expects that it fails in the right way and changes nothing.
    private func expectRefusal(
        of bytes: [UInt8],
        in place: Workplace,
        _ comment: Comment
    ) throws {
        try place.write(bytes, to: "bad")
        let result = try place.migrate(
            "import",
            place.path("bad"),
            "--container",
            place.path("target"),
            "--replace"
        )
        result.expectFailure(65, comment: comment)
        let tree = try place.tree("target")
        #expect(tree.count == 1, comment)
        #expect(tree["data"]?.hasSuffix(" 1.0 1 b2xkCg==") ?? false, comment)
        #expect(try place.names() == ["archive", "bad", "source", "target"], comment)
    }

    @Test func `refuses an archive that is cut short anywhere`() throws {
        let (place, archive) = try makePlace()
        for index in 0..<40 {
            let count = archive.count * index / 40
            try expectRefusal(of: [UInt8](archive[..<count]), in: place, "\(count) bytes")
        }
        let count = archive.count - 1
        try expectRefusal(of: [UInt8](archive[..<count]), in: place, "\(count) bytes")
    }

    @Test func `refuses an archive with a flipped bit anywhere`() throws {
        let (place, archive) = try makePlace()
        for index in 0..<60 {
            var bytes = archive
            let position = (archive.count - 1) * index / 59
            bytes[position] ^= 1 << UInt8(index % 8)
            try expectRefusal(of: bytes, in: place, "bit \(index % 8) of byte \(position)")
        }
    }

    @Test(arguments: ["/etc/passwd", "/nonexistent"])
    func `names the directory for temporary files if it can't be used`(_ directory: String) throws {
        let place = try Workplace()
        // The targets of the links take more memory than is used for them.
        let made = try place.shell(
            """
            python3 -c 'import tarfile
            with tarfile.open("links.tar", "w", format=tarfile.PAX_FORMAT) as tar:
                for number in range(400):
                    link = tarfile.TarInfo(f"link-{number}")
                    link.type, link.linkname = tarfile.SYMTYPE, "a" * 4000
                    tar.addfile(link)'
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let result = try place.shell("TMPDIR=\(directory) $migrate verify links.tar")
        #expect(result.exitCode == 73)
        #expect(result.errors.contains("no temporary file can be made in \(directory); set TMPDIR"))
    }

    @Test func `refuses an archive with bytes behind its end`() throws {
        let (place, archive) = try makePlace()
        try expectRefusal(of: archive + [0], in: place, "a zero byte")
        try expectRefusal(of: archive + archive, in: place, "twice")
    }

    @Test(arguments: ["verify", "list", "diff", "extract", "import"])
    func `refuses damage in what comes from a pipe`(_ command: String) throws {
        let (place, archive) = try makePlace()
        let ending = [
            "diff": "--container source", "extract": "--to out", "import": "--container out",
        ]
        for count in [0, 3, 100, archive.count / 2, archive.count - 9, archive.count - 1] {
            let result = try place.shell(
                "head -c \(count) archive | $migrate \(command) - \(ending[command] ?? "")"
            )
            let code = result.exitCode
            #expect(code == 65, "\(count) bytes: \(result.errors)")
            #expect(result.errorLine?.hasPrefix("migrate: error: \(command) ") ?? false)
        }
        #expect(try place.names().filter { $0.hasPrefix(".") }.isEmpty)
    }

    @Test(
        arguments: [
            (": > bad", 65), ("echo text > bad", 65), ("seq 9999 > bad", 65),
            ("seq 9999 | gzip > bad", 65), ("seq 9999 | zstd -q > bad", 65),
            ("tar -cf all.tar -C source . && head -c 3000 all.tar > bad", 65),
            ("head -c 4096 /dev/zero > bad", 65), ("mkdir bad", 1), (":", 1),
            ("ln -s bad bad", 1), ("mkfifo bad; : > bad &", 65),
        ] as [(String, Int32)]
    )
    func `refuses what is no archive`(_ script: String, _ code: Int32) throws {
        let (place, _) = try makePlace()
        try place.shell(script)
        let result = try place.migrate(
            "import",
            place.path("bad"),
            "--container",
            place.path("target"),
            "--replace"
        )
        result.expectFailure(code)
        #expect(result.errors.hasPrefix("migrate: error: import \(place.path("bad")): "))
        #expect(try place.tree("target").keys.sorted() == ["data"])
        #expect(try place.names().filter { $0.hasPrefix(".") }.isEmpty)
    }

    @Test(arguments: ["inspect", "list", "verify", "diff", "extract"])
    func `refuses what is no archive in every command`(_ command: String) throws {
        let place = try Workplace()
        try place.makeContainer()
        let options = [
            "diff": ["--container", place.path("source")], "extract": ["--to", "/x/y"],
        ]
        let arguments = [command, place.path("bad")] + (options[command] ?? [])
        let isDiff = command == "diff"
        for (script, code) in [("seq 999 > bad", 65), ("rm bad", isDiff ? 2 : 1)] {
            try place.shell(script)
            try MigrateCommand.run(arguments).expectFailure(Int32(code))
        }
        try place.shell("mkdir bad")
        let result = try MigrateCommand.run(arguments)
        if isDiff {
            // A directory can be compared as well as an archive.
            #expect(result.exitCode == 1)
            #expect(result.errors.isEmpty, "\(result.errors)")
            #expect(result.output.hasPrefix("only in the second: Documents\n"))
        } else {
            result.expectFailure(1)
        }
        #expect(try place.names() == ["bad", "source"])
    }

    /// The start of an archive isn't taken for another program's archive.
    @Test(arguments: ["inspect", "list", "verify"])
    func `refuses the first bytes of an archive`(_ command: String) throws {
        let (place, archive) = try makePlace()
        for count in [20, 200, archive.count / 2] {
            try place.write([UInt8](archive[..<count]), to: "bad")
            let result = try place.migrate(command, place.path("bad"))
            guard command == "verify" else {
                result.expectFailure(65)
                continue
            }
            // It says what is lost, too.
            #expect(result.exitCode == 65, "\(count) bytes: \(result.errors)")
            let start = "migrate: error: verify \(place.path("bad")): "
            #expect(result.errorLine?.hasPrefix(start) ?? false, "\(result.errors)")
            #expect(result.output.hasPrefix("lost: . ("), "\(count) bytes: \(result.output)")
            #expect(result.output.hasSuffix("\n"))
            #expect(result.output.split(separator: "\n").allSatisfy { $0.hasPrefix("lost: ") })
        }
    }
}
