import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct PipeTests {
    @Test func `writes the archive alone to standard output`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        let archive = try place.export()
        let result = try place.migrate("export", "--container", place.path("source"), "--out", "-")
        #expect(result.exitCode == 0)
        #expect(result.standardOutput == archive)
        #expect(result.errors.hasPrefix("standard output: 7 files, "))
    }

    @Test func `answers with one document where standard error is for JSON`() throws {
        let place = try Workplace()
        try place.makeContainer()
        try place.shell("ln -s ../../out source/Documents/out")
        let result = try place.shell(
            "$migrate export --container source --out - --json 2>answer >archive"
        )
        #expect(result.exitCode == 0)
        let answer = try JSONSerialization.jsonObject(with: Data(place.bytes(of: "answer")))
        #expect((answer as? [String: Any])?["externalLinkCount"] as? Int == 1)
    }

    @Test func `gives what it found before it failed`() throws {
        let place = try Workplace()
        try place.makeContainer()
        let script = """
            head -c 3000000 /dev/zero > source/zeros && tar --sort=name -cf whole -C source . &&
            head -c 2000000 whole > cut && tar -tf cut > expected; $migrate list cut > rows
            """
        let result = try place.shell(script)
        #expect(result.exitCode == 65)
        let (rows, expected) = (try place.bytes(of: "rows"), try place.bytes(of: "expected"))
        let count = expected.count { $0 == UInt8(ascii: "\n") }
        // `tar` lists the root, and the file that it finds cut off, too.
        #expect(count > 5)
        #expect(rows.count { $0 == UInt8(ascii: "\n") } >= count - 2)
        // The error must report the failure, not that the answer could not be written.
        let full = try place.shell("$migrate list cut > /dev/full")
        #expect(full.exitCode == 65)
        #expect(result.errors.hasSuffix(full.errors) && !full.errors.isEmpty)
    }

    /// Frames of more and of less than zstd's window differ in their headers.
    @Test(arguments: [0, 9])
    func `moves a container through a pipe`(_ megabytes: Int) throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: megabytes)
        try place.shell("yes abcdefgh | head -c 9000000 > source/Library/dull")
        let result = try place.shell(
            "$migrate export --container source --out - 2>/dev/null | $migrate import - --container b"
        )
        #expect(result.exitCode == 0)
        #expect(result.errors.isEmpty)
        #expect(result.output.hasPrefix("standard input: imported into b: "))
        var expected = try place.tree("source")
        expected["Library/Caches"] = nil
        expected["Library/Caches/page"] = nil
        #expect(try place.tree("b") == expected)
    }

    @Test(arguments: ["verify", "inspect", "list"])
    func `answers the same of a pipe as of a file`(_ command: String) throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let file = try place.migrate(command, place.path("archive"))
        #expect(file.exitCode == 0)
        let pipe = try place.shell("cat archive | $migrate \(command) -")
        #expect(pipe.exitCode == 0)
        #expect(pipe.errors.isEmpty)
        let expected = file.output.replacing(place.path("archive"), with: "standard input")
        #expect(pipe.output == expected)
        #expect(try place.shell("$migrate \(command) - < archive").output == expected)
    }

    @Test func `extracts and compares from a pipe`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
        let one = try place.shell("cat archive | $migrate extract - --to out Documents")
        #expect(one.exitCode == 0)
        let documents = try place.tree("source").filter { $0.key.hasPrefix("Documents/") }
        let extracted = try place.tree("out").filter { $0.key.hasPrefix("Documents/") }
        #expect(extracted.count == documents.count && documents.count == 8)
        #expect(extracted["Documents/noise"] == documents["Documents/noise"])
        let diff = try place.shell("cat archive | $migrate diff - --container source")
        #expect(diff.exitCode == 0)
        #expect(diff.standardOutput.isEmpty)
    }

    @Test(arguments: ["inspect", "list", "verify"])
    func `says that standard input is closed`(_ command: String) throws {
        let place = try Workplace()
        let result = try place.shell("$migrate \(command) - <&-")
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("from standard input, which is closed\n"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `stops waiting for a pipe on a signal`(_ signal: Int32) throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        let export = ["export", "--container", place.path("source"), "--out", "-"]
        let writing = try MigrateCommand.start(export.map { [UInt8]($0.utf8) }, output: .unread)
        writing.waitUntilItWrites()
        let reading = try place.startStalled("import", "-", "--container", place.path("target"))
        try place.wait { reading.catches(signal) }
        for command in [writing, reading] {
            command.send(signal)
            let result = try command.wait()
            #expect(result.exitCode == 128 + signal)
            #expect(result.errors == "migrate: interrupted\n")
        }
        #expect(!place.exists("target"))
    }

    @Test(arguments: ["verify", "extract -t out"])
    func `names what is wrong alike from a file and from a pipe`(_ words: String) throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 6)
        let whole = try place.export()
        let command = words.split(separator: " ", maxSplits: 1)
        let rest = command.dropFirst().joined()
        func expectSameMessage(_ bytes: [UInt8], _ text: String) throws {
            try place.write(bytes, to: "broken")
            let messages = try ["broken", "-"].map { name in
                let result = try place.shell("$migrate \(command[0]) \(name) \(rest) <broken")
                #expect(result.exitCode == 65)
                // A pipe was read only up to this place.
                return result.errors
                    .replacing(#/ \(at byte [0-9]+ of the tar stream\)/#, with: "")
                    .replacing("standard input:", with: "broken:")
            }
            #expect(messages[0] == messages[1])
            #expect(messages[0].contains(text), "\(messages[0])")
        }
        for length in [70_000, whole.count / 2, whole.count - 300, whole.count - 1] {
            try expectSameMessage(Array(whole[..<length]), "the archive is cut short: its end")
        }
        for place in [3_000, 70_000, whole.count / 2, whole.count - 50_000] {
            var bytes = whole
            bytes[place] ^= 0x55
            try expectSameMessage(bytes, "a frame can't be decompressed")
        }
        var bytes = whole
        bytes[whole.count - 200] ^= 0x55
        try expectSameMessage(bytes, "the hashes at the archive's end are damaged")
    }

    @Test func `ends quietly when nobody reads the archive`() throws {
        let place = try Workplace()
        try place.makeContainer(megabytes: 5)
        let result = try MigrateCommand.run(
            ["export", "--container", place.path("source"), "--out", "-"],
            output: .withoutReader
        )
        #expect(result.exitCode == 128 + SIGPIPE)
        #expect(result.errors.isEmpty)
    }
}
