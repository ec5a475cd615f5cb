import Foundation
import TestSupport
import Testing

/// The fingerprint names the data, however it is archived.
@Suite(.scratchDirectory)
struct FingerprintFlagTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer()
    }

    private func fingerprint(_ flags: String = "") throws -> String {
        let result = try place.shell("\"$migrate\" fingerprint --container source \(flags)")
        try #require(result.exitCode == 0, "\(result.errors)")
        return String(result.output.dropLast())
    }

    private func exported(_ flags: String) throws -> String {
        let result = try place.shell(
            """
            "$migrate" export --container source --out other --force \(flags) >answer &&
            sed -n 's/^fingerprint //p' answer
            """
        )
        try #require(result.exitCode == 0, "\(result.errors)")
        return String(result.output.dropLast())
    }

    @Test func `of a container is that of every archive of it, and writes nothing`() throws {
        let before = try place.tree("source")
        let expected = try fingerprint()
        #expect(expected.count == 64)
        #expect(try place.names() == ["source"])
        for flags in ["--level 1", "--level 19", "--no-compress", "--threads 1", "--threads 7"] {
            #expect(try exported(flags) == expected, "\(flags)")
        }
        for threads in [1, 5] { #expect(try fingerprint("--threads \(threads)") == expected) }
        #expect(try place.tree("source") == before)
    }

    @Test func `takes what says which data counts`() throws {
        var found: Set = [try fingerprint()]
        for flags in [
            "--exclude 'Documents/none'", "--include-caches", "--resources-version 2",
            "--bundle-id org.example.other", "--source-platform iOS",
        ] {
            let fingerprint = try fingerprint(flags)
            #expect(try exported(flags) == fingerprint, "\(flags)")
            #expect(found.insert(fingerprint).inserted, "\(flags)")
        }
        try place.shell("touch -d 2020-01-01 source/Documents/none")
        #expect(found.insert(try fingerprint()).inserted)
    }

    @Test func `says as JSON what counts`() throws {
        let result = try place.shell("\"$migrate\" fingerprint --container source --json")
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
        #expect(answer["fingerprint"] as? String == (try fingerprint()))
        #expect((answer["totals"] as? [String: Int])?["files"] == 6)
    }

    /// The ways to take an archive that must have a fingerprint, and the files that each would
    /// make.
    private static let ways = [
        ("import archive --container target", "target"),
        ("import - --container target <archive", "target"), ("extract archive --to out", "out"),
        ("extract archive --to out Documents/numbers", "out"),
        ("extract - --to out <archive", "out"), ("verify archive", "none"),
        ("verify archive --hashes", "none"), ("verify - <archive", "none"),
    ]

    @Test(arguments: ways)
    func `is expected`(_ way: String, _ output: String) throws {
        try place.export()
        let other = String(repeating: "0", count: 64)
        let refused = try place.shell("\"$migrate\" \(way) --expect \(other)")
        refused.expectFailure(65)
        let expected = try fingerprint()
        let message = "the archive's fingerprint is \(expected), and \(other) was expected"
        #expect(refused.errors.contains(message), "\(refused.errors)")
        // A missing container is made before a pipe is read, and is empty then.
        let data = try place.exists(output) ? place.tree(output).keys.filter { $0 != "" } : []
        #expect(data.isEmpty, "\(data)")
        let taken = try place.shell("\"$migrate\" \(way) --expect \(expected.uppercased())")
        #expect(taken.exitCode == 0, "\(taken.errors)")
        #expect(try output == "none" || place.tree(output)["Documents/numbers"] != nil)
    }

    @Test func `leaves a container as it was where another is expected`() throws {
        try place.export()
        try place.makeContainer("target")
        try place.shell("echo mine >target/Documents/mine")
        let before = try place.tree("target")
        let other = String(repeating: "a", count: 64)
        for source in ["archive", "- <archive"] {
            let refused = try place.shell(
                "\"$migrate\" import \(source) --container target --replace --expect \(other)"
            )
            refused.expectFailure(65)
            #expect(try place.tree("target") == before)
        }
    }

    @Test func `of another program's file is none`() throws {
        try place.shell("tar -cf foreign.tar -C source Documents")
        let zeros = String(repeating: "0", count: 64)
        let result = try place.shell("\"$migrate\" extract foreign.tar --to out --expect \(zeros)")
        result.expectFailure(65)
        #expect(result.errors.contains("the file carries no fingerprint"))
        #expect(!place.exists("out"))
    }

    @Test func `has 64 digits`() throws {
        let result = try place.migrate("verify", "archive", "--expect", "12ab")
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("is not a fingerprint of 64 hexadecimal digits"))
    }
}
