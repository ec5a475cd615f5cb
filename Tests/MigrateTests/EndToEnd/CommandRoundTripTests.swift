import Foundation
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct CommandRoundTripTests {
    @Test func `carries a container into another one`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let exported = try place.migrate(
            "export",
            "--container",
            place.path("source"),
            "--out",
            place.path("archive")
        )
        #expect(exported.exitCode == 0)
        #expect(exported.errors.isEmpty)
        #expect(exported.output.contains("left out: Library/Caches (6 B, by default)\n"))

        let imported = try place.migrate(
            "import",
            place.path("archive"),
            "--container",
            place.path("target")
        )
        #expect(imported.exitCode == 0)
        #expect(imported.errors.isEmpty)
        #expect(imported.output.contains("imported into \(place.path("target")): 6 files"))

        var expected = try place.tree("source")
        expected["Library/Caches"] = nil
        expected["Library/Caches/page"] = nil
        #expect(try place.tree("target") == expected)
        #expect(expected.count == 11)
        #expect(try place.names() == ["archive", "source", "target"])
    }

    @Test func `finds no difference after an import, and one after a change`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let archive = place.path("archive")
        let target = place.path("target")
        #expect(try place.migrate("import", archive, "--container", target).exitCode == 0)
        let same = try place.migrate("diff", archive, "--container", target)
        #expect(same.exitCode == 0)
        #expect(same.standardOutput.isEmpty && same.standardError.isEmpty)

        try place.shell("cd target/Documents && printf x | dd of=none conv=notrunc 2>&1; rm link")
        try place.shell("touch -r ../source/Documents target/Documents; chmod 700 target/Library")
        let other = try place.migrate("diff", archive, "--container", target)
        #expect(other.exitCode == 1)
        #expect(other.errors.isEmpty)
        #expect(other.output.contains("\nDocuments/none: "))
        #expect(other.output.contains("only in the archive: Documents/link\n"))
        #expect(other.output.contains("Library: permissions differ"))
    }

    @Test func `says and clears how an import ended`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let exported = try place.shell(
            "\"$migrate\" export --container source --out archive --as com.example.notes"
        )
        try #require(exported.exitCode == 0, "\(exported.errors)")
        let target = place.path("target")
        #expect(
            try place.migrate("import", place.path("archive"), "--container", target).exitCode == 0
        )
        let status = try place.migrate("status", "--container", target)
        #expect(status.exitCode == 0)
        #expect(status.output.hasPrefix("success\ndate         "))
        #expect(status.output.contains("\napp          com.example.notes\n"))
        for (arguments, code) in [(["--clear"], 0), ([], 5)] {
            let cleared = try MigrateCommand.run(["status", "--container", target] + arguments)
            #expect(cleared.output == "none\n")
            #expect(cleared.exitCode == Int32(code))
        }
    }

    @Test func `extracts all entries or one of them`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        let archive = place.path("archive")
        let all = try place.migrate("extract", archive, "--to", place.path("all"))
        #expect(all.exitCode == 0)
        var expected = try place.tree("source")
        expected["Library/Caches"] = nil
        expected["Library/Caches/page"] = nil
        #expect(try place.tree("all") == expected)

        let one = try place.migrate(
            "extract",
            archive,
            "--to",
            place.path("one"),
            "./Documents/tool"
        )
        #expect(one.exitCode == 0)
        #expect(try Set(place.tree("one").keys) == ["Documents", "Documents/tool"])

        let before = try place.tree("one")
        let again = try place.migrate("extract", archive, "--to", place.path("one"))
        again.expectFailure(73)
        let message = "the directory already holds an item of that name: \(place.path("one"))/"
        #expect(again.errors.contains(message))
        #expect(try place.tree("one") == before)

        let missing = try place.migrate("extract", archive, "--to", place.path("none"), "nothing")
        missing.expectFailure(1)
        #expect(!place.exists("none"))
    }

    @Test func `gives every answer as JSON`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let (source, archive, target) = (
            place.path("source"), place.path("archive"), place.path("target")
        )
        let commands = [
            ["export", "--container", source, "--out", archive], ["inspect", archive],
            ["list", archive], ["verify", archive], ["import", archive, "--container", target],
            ["extract", archive, "--to", place.path("out")],
            ["diff", archive, "--container", target], ["status", "--container", target],
        ]
        var answers: [String: Any] = [:]
        for command in commands {
            let result = try MigrateCommand.run(command + ["--json"])
            #expect(result.exitCode == 0)
            #expect(result.errors.isEmpty)
            answers[command[0]] = try JSONSerialization.jsonObject(
                with: Data(result.standardOutput)
            )
            let schema = (answers[command[0]] as? [String: Any])?["schema"] as? String
            #expect(schema == "migrate/\(command[0])/1")
        }
        #expect((answers["verify"] as? [String: Any])?["sound"] as? Bool == true)
        let fingerprints = ["export", "inspect", "verify", "import", "extract", "status"].map {
            (answers[$0] as? [String: Any])?["fingerprint"] as? String
        }
        #expect(Set(fingerprints).count == 1)
        #expect(fingerprints[0]?.count == 64)
        #expect(((answers["list"] as? [String: Any])?["entries"] as? [Any])?.count == 11)
        #expect(((answers["diff"] as? [String: Any])?["differences"] as? [Any])?.count == 0)
        #expect((answers["status"] as? [String: Any])?["status"] as? String == "success")
    }
}
