import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

struct StrictTarReaderTests {
    private let strict = StrictStream()

    static let entries: [ArchiveEntry] = [
        .file("Documents/a.txt"),
        .directory("Documents"),
        .file(String(repeating: "p", count: 80) + "/" + String(repeating: "n", count: 60)),
        .file(String(repeating: "n", count: 255)),
        .directory(String(repeating: "d", count: 100)),
        .file("é/日本"),
        ArchiveEntry(
            path: EntryPath(bytes: [0xFF, 0x2F, 0xE9]),
            kind: .symbolicLink(target: [0x2E, 0x2E, 0x2F, 0xFE]),
            permissions: 0o7777,
            modificationTime: FileTime(seconds: -5)
        ),
        .symbolicLink("l", to: String(repeating: "t", count: 4095)),
        .hardLink("h", to: "Documents/é"),
        .file("t", time: FileTime(seconds: .max)),
        .file(
            "x",
            attributes: [
                ExtendedAttribute(name: [UInt8]("user.%=".utf8), value: [0, 10, 61]),
                ExtendedAttribute(name: [UInt8]("user.b".utf8), value: []),
            ]
        ),
    ]

    @Test(arguments: entries)
    func `reads back what the encoder writes`(_ entry: ArchiveEntry) throws {
        #expect(try strict.entries(in: StrictStream.encoded(entry)) == [entry])
    }

    @Test(arguments: [1, 7, 511, 512, 513, 4096])
    func `reads across the edges of chunks`(_ chunkSize: Int) throws {
        let body = try Self.entries.flatMap(StrictStream.encoded)
        let read = try strict.entries(inStream: strict.stream(body), chunkSize: chunkSize)
        #expect(read == Self.entries)
    }

    /// With two spellings of one entry, two readers could see two archives in one.
    @Test(arguments: [0, 1, 2, 6, 8, 10])
    func `takes a header with any byte changed for another entry or not at all`(_ index: Int) throws
    {
        let entry = Self.entries[index]
        let encoded = try StrictStream.encoded(entry)
        let lastBlock = encoded.count - 512
        let start = Thoroughness.isFull ? 0 : index / 2 % 2
        for position in stride(from: start, to: encoded.count, by: Thoroughness.step(2)) {
            let original = encoded[position]
            for byte in [0x20, 0x30, original ^ 1, original ^ 0x80] where byte != original {
                var changed = encoded
                changed[position] = byte
                for block in Set([0, lastBlock]) where !(148..<156).contains(position - block) {
                    changed.fixChecksum(ofBlockAt: block)
                }
                guard let read = try? strict.entries(in: changed) else { continue }
                try #require(read != [entry])
                if read.count == 1 {
                    let again = try StrictStream.encoded(read[0])
                    try #require(again == changed)
                } else {
                    // The extended header turned into a file whose content are the records.
                    #expect(position == UstarBlock.Field.typeFlag)
                }
            }
        }
    }

    @Test func `refuses a wrong checksum`() throws {
        var encoded = try StrictStream.encoded(.file("a"))
        encoded[0] = UInt8(ascii: "b")
        let error = #expect(throws: ArchiveError.self) { try strict.entries(in: encoded) }
        #expect(error?.code == .damaged)
    }

    @Test(
        arguments: [
            .file("../a"), .file("/a"), .file("a//b"), .file("./a"), .directory(".."),
            .symbolicLink("l", to: ""), .hardLink("h", to: "h"), .hardLink("h", to: "../a"),
            .hardLink("h", to: "/etc/passwd"), .file("a", permissions: 0o10000),
            .file(
                "a",
                attributes: [
                    ExtendedAttribute(name: [UInt8]("security.capability".utf8), value: [1])
                ]
            ),
            .file(
                "a",
                attributes: [ExtendedAttribute(name: [UInt8]("user.a\0".utf8), value: [1])]
            ),
            .file(
                "a",
                attributes: [
                    ExtendedAttribute(name: [UInt8]("user.a".utf8), value: [1]),
                    ExtendedAttribute(name: [UInt8]("user.a".utf8), value: [2]),
                ]
            ),
            .file(
                "a",
                attributes: [
                    ExtendedAttribute(name: [UInt8]("user.b".utf8), value: [1]),
                    ExtendedAttribute(name: [UInt8]("user.a".utf8), value: [2]),
                ]
            ),
        ] as [ArchiveEntry]
    )
    func `refuses entries that no export makes`(_ entry: ArchiveEntry) throws {
        let encoded = try StrictStream.encoded(entry)
        #expect(throws: ArchiveError.self) { try strict.entries(in: encoded) }
    }

    @Test(arguments: ["3", "4", "6", "7", "L", "K", "S", "D", "M", "V", "N", "X", "g", "Z", "\0"])
    func `refuses other kinds of entries`(_ type: String) throws {
        var encoded = try StrictStream.encoded(.file("a"))
        encoded[156] = [UInt8](type.utf8)[0]
        encoded.fixChecksum()
        #expect(throws: ArchiveError.self) { try strict.entries(in: encoded) }
    }

    @Test func `refuses an extended header that says what ustar can say`() throws {
        for (key, value) in [
            ("path", "a"), ("size", "0"), ("mtime", "1700000000"), ("hdrcharset", "BINARY"),
            ("comment", "x"), ("uid", "0"), ("linkpath", ""),
        ] {
            var records = PaxRecords()
            records.append(key: key, value: [UInt8](value.utf8))
            var body: [UInt8] = []
            TarEntryEncoder().encodeExtended(
                records,
                typeFlag: TypeFlag.extendedHeader,
                to: &body
            )
            body += try StrictStream.encoded(.file("a"))
            let error = #expect(throws: ArchiveError.self) { try strict.entries(in: body) }
            #expect(error?.code == .refused, "\(key)")
        }
    }

    @Test func `refuses two extended headers before one entry`() throws {
        let encoded = try StrictStream.encoded(.file("é"))
        let twice = Array(encoded.prefix(1024)) + encoded
        #expect(throws: ArchiveError.self) { try strict.entries(in: twice) }
    }

    @Test func `refuses a stream without its end mark or with more behind it`() throws {
        let entry = try StrictStream.encoded(.file("a"))
        for (endMark, code) in [
            (0, ArchiveError.Code.truncated), (512, .truncated), (1536, .damaged),
        ] {
            let error = #expect(throws: ArchiveError.self) {
                try strict.entries(in: entry, endMark: endMark)
            }
            #expect(error?.code == code)
        }
    }

    @Test func `refuses bytes that hide in the padding`() throws {
        let header = try StrictStream.encoded(.file("a", size: 1))
        var content = [UInt8](repeating: 0, count: 512)
        #expect(try strict.entries(in: header + content).count == 1)
        content[511] = 1
        let error = #expect(throws: ArchiveError.self) { try strict.entries(in: header + content) }
        #expect(error?.code == .refused)
    }

    @Test func `fails at every truncation of a stream`() throws {
        let body = try Self.entries[..<6].flatMap(StrictStream.encoded)
        let stream = strict.stream(body)
        for count in 0..<stream.count where count % 512 < 2 || count % 37 == 0 {
            #expect(throws: ArchiveError.self) {
                try strict.entries(inStream: Array(stream.prefix(count)))
            }
        }
    }
}
