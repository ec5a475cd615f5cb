import Foundation
import TestSupport
import Testing

/// A reader in Python, written only from the page *The archive format*, reads the archives of
/// `migrate`.
@Suite(
    .scratchDirectory,
    .enabled(if: Machine.has("python3") && Machine.has("zstd"), "needs Python and zstd")
)
struct ReferenceReaderTests {
    private static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ReferenceReader").path

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeContainer(megabytes: 5)
        try place.export()
    }

    private func python(_ program: String, _ arguments: String) throws -> MigrateCommand.Result {
        try place.shell("python3 -B '\(Self.directory)/\(program)' \(arguments)")
    }

    @Test(arguments: ["", "--no-compress", "--level 19"])
    func `finds the fingerprint and every entry`(_ flags: String) throws {
        let exported = try place.shell(
            "\"$migrate\" export --container source --out archive --force \(flags)"
        )
        let read = try python("read_archive.py", "archive")
        #expect(read.exitCode == 0, "\(read.errors)")
        let lines = read.output.split(separator: "\n").map(String.init)
        let fingerprint = try #require(lines.first)
        #expect(exported.output.contains("fingerprint \(fingerprint)\n"))
        #expect(lines.count == 13)
        let time = try place.shell("stat -c %.9Y source/Documents/numbers | tr -d .").output
        #expect(lines.contains("0 3893 \(time.dropLast()) Documents/numbers"))
        #expect(lines.contains { $0.hasPrefix("5 0 ") && $0.hasSuffix(" Documents/empty") })
        #expect(lines.contains { $0.hasPrefix("1 0 ") && $0.hasSuffix(" Library/again") })
        #expect(lines.contains { $0.hasPrefix("0 5 ") && $0.hasSuffix(" Documents/größe") })
    }

    @Test(.enabled(if: Machine.isRoot && Machine.has("setfacl"), "needs root and setfacl"))
    func `reads owners, access control lists and all attributes`() throws {
        let made = try place.shell(
            """
            cd source/Documents && chown 3000000:7 noise && chown 1000:33 numbers &&
            setfacl -m u:5:rw numbers && setfacl -d -m g:6:r empty && cd ../.. &&
            "$migrate" export --container source --out archive --force --owners --acls --xattrs all
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let read = try python("read_archive.py", "archive")
        #expect(read.exitCode == 0, "\(read.errors)")
        let fingerprint = try #require(read.output.split(separator: "\n").first)
        #expect(made.output.contains("fingerprint \(fingerprint)\n"))
    }

    /// A second writer, made only from the page, writes the same bytes of a tree as we do.
    @Test(arguments: ["", "--as org.example.größe/\u{7F}"])
    func `a writer from the page gives the same fingerprint and stream`(_ flags: String) throws {
        let made = try place.shell(
            """
            mkdir -p tree/deep/er tree/many tree/Größe && cd tree && seq 3000 > deep/numbers && : > none &&
            ln -s ../none deep/link && ln deep/numbers zz && echo x > "$(printf 'n\\351\\377')" &&
            echo y > deep/$(printf 'n%.0s' $(seq 200)).txt && touch -d 1960-01-01T00:00:00.25 deep/old &&
            head -c 300000 /dev/zero > zeros && head -c 5000000 /dev/zero > deep/er/long &&
            head -c 4500000 /dev/urandom > noise && head -c 70000 /dev/urandom > deep/er/medium.jpg &&
            ln -s $(printf 't%.0s' $(seq 150)) far && ln -s Größe near && chmod 600 none &&
            seq 8300 | split -l 1 -a 3 - many/ && cd .. &&
            "$migrate" export --container tree --out ours \(flags) | grep ^fingerprint | cut -d ' ' -f 2 &&
            "$migrate" inspect ours --json > header
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let answer = Data(try place.bytes(of: "header"))
        let header = try JSONDecoder().decode(Inspected.self, from: answer).header
        var words = ["creator=\(header.creator)", "sizeEstimate=\(header.sizeEstimate)"]
        if let app = header.bundleIdentifier { words.append("bundleIdentifier=\(app)") }
        let given = words.map { "'\($0)'" }.joined(separator: " ")
        let written = try python("write_archive.py", "tree theirs \(given)")
        #expect(written.exitCode == 0 && written.output == made.output, "\(written.errors)")
        let compared = try place.shell(
            """
            zstd -dcq ours > a && zstd -dcq theirs > b && cmp a b &&
            "$migrate" verify theirs && "$migrate" diff theirs --container tree
            """
        )
        #expect(compared.exitCode == 0, "\(compared.output)\(compared.errors)")
    }

    private struct Inspected: Decodable {
        struct Header: Decodable {
            let bundleIdentifier: String?
            let creator: String
            let sizeEstimate: UInt64
        }
        let header: Header
    }

    private static let forgeries = [
        ("another content", "a piece has another hash"),
        ("another fingerprint", "the fingerprint is wrong"),
        ("a time of a second", "a mark is no time"),
        ("a mark too many", "a mark belongs to no entry"),
        ("a mark too few", "an entry has no mark"),
        ("a hard link with a time", "a hard link has a time of its own"),
        ("a file more", "the totals are wrong"), ("another index", "the index is untrue"),
        ("a newer version", "made by a newer version"),
        ("a pre-release", "made by a pre-release"),
        ("pages of zeros that are none", "the totals are wrong"),
        ("a path that leads out", "a path leads out"),
        ("hidden bytes", "bytes are hidden behind a content"),
        ("bytes behind the end", "the end is missing"),
        ("a path that comes twice", "a path comes twice"),
        ("a directory without an entry", "a directory has no entry"),
        ("a hard link to nothing", "a hard link leads to no earlier file"),
        ("a file that lies too early", "a window is out of order"),
        ("no first window", "no window begins with the first entry"),
        ("a window cut too early", "the index is untrue"),
        ("a large file of another name", "the table of large files is untrue"),
        ("a large file of another size", "the table of large files is untrue"),
        ("a large file too few", "no table of large files"),
        ("another table", "the table of large files is untrue"),
        ("no table", "the table of large files is untrue"),
        ("an index of other pieces", "the index is untrue"),
    ]

    @Test(arguments: forgeries)
    func `refuses a forgery, as we do`(_ name: String, _ reason: String) throws {
        try expectRefusal(of: name, reason)
    }

    private func expectRefusal(of forgery: String, _ reason: String) throws {
        let forged = try python("forge_archive.py", "archive '\(forgery)' forged")
        try #require(forged.exitCode == 0, "\(forged.errors)")
        let read = try python("read_archive.py", "forged")
        #expect(read.exitCode == 1)
        #expect(read.errors == "refused: \(reason)\n")
        // It also reports the entries that are lost.
        #expect(try place.migrate("verify", place.path("forged")).exitCode == 65)
    }

    @Test func `proves that windows are as full as they may be`() throws {
        let made = try place.shell(
            """
            mkdir -p tree/many && seq 9000 | split -l 1 -a 3 - tree/many/ &&
            "$migrate" export --container tree --out archive --force
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let read = try python("read_archive.py", "archive")
        #expect(read.exitCode == 0, "\(read.errors)")
        #expect(read.output.split(separator: "\n").count == 9002)
        try expectRefusal(of: "two windows as one", "a window holds too much")
        try expectRefusal(of: "a window cut too early", "the index is untrue")
    }

    @Test func `takes what was put together again without a forgery, as we do`() throws {
        let forged = try python("forge_archive.py", "archive 'nothing forged' forged")
        try #require(forged.exitCode == 0, "\(forged.errors)")
        let read = try python("read_archive.py", "forged")
        let original = try python("read_archive.py", "archive")
        #expect(read.exitCode == 0 && read.output == original.output, "\(read.errors)")
        let verified = try place.migrate("verify", place.path("forged"))
        #expect(verified.exitCode == 0, "\(verified.errors)")
    }
}
