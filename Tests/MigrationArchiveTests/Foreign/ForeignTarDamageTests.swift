import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// Streams that no tar program wrote.
struct ForeignTarDamageTests {
    private func code(_ bytes: [UInt8]) -> ArchiveError.Code? {
        #expect(throws: ArchiveError.self) { try RawTar.items(in: bytes) }?.code
    }

    private var sample: RawTar {
        var tar = RawTar()
        tar.add("a", content: [1, 2, 3])
        tar.add("b")
        return tar
    }

    @Test func `takes one zero block or any number of them for the end`() throws {
        for count in [1, 2, 3, 20] {
            #expect(try sample.items(endBlocks: count).count == 2)
        }
        #expect(try RawTar.items(in: sample.ended() + [0, 0, 0]).count == 2)
    }

    @Test func `takes a stream without its end mark and says so`() throws {
        for (bytes, lacksEndMark) in [(sample.bytes, true), (sample.ended(1), false)] {
            let reader = ForeignTarReader(reading: TarStream(MemorySource(bytes)))
            var count = 0
            while try reader.next() != nil { count += 1 }
            #expect(count == 2)
            #expect(reader.lacksEndMark == lacksEndMark)
        }
    }

    /// Only a stream that ends behind a whole entry looks like a complete archive.
    @Test func `fails at every truncation inside of an entry`() {
        var tar = sample
        tar.addRecords([("path", "c")])
        tar.add("none", content: [4])
        let entryEnds = [1024, 1536, tar.bytes.count]
        for count in 0..<tar.bytes.count where count % 512 < 5 || count % 512 > 508 {
            if entryEnds.contains(count) { continue }
            #expect(code([UInt8](tar.bytes.prefix(count))) == .truncated, "\(count)")
        }
    }

    @Test func `refuses another tar file behind the end, and zeros in an entry's place`() {
        #expect(code(sample.ended() + sample.ended()) == .damaged)
        #expect(code(sample.ended(1) + sample.ended()) == .damaged)
        #expect(code(sample.ended(17) + sample.ended()) == .damaged)
        let zeroed = [UInt8](repeating: 0, count: 512) + sample.bytes.dropFirst(1024)
        #expect(code(sample.bytes.prefix(1024) + zeroed) == .damaged)
    }

    /// Ant leaves the rest of its buffer behind the end mark, and others append their own data.
    @Test func `takes stale bytes behind the end and says so`() throws {
        let old = sample.bytes + [UInt8](repeating: 7, count: 5 * 512)
        let record = 10_240 - sample.ended().count - old.count
        let stale = sample.ended() + [UInt8](repeating: 0, count: record) + old
        for (bytes, lacksEndMark) in [
            (stale, false), (sample.ended() + [1], false),
            (sample.ended() + [UInt8](repeating: 0, count: 20_000) + [1], false),
            (sample.ended(1) + [UInt8](repeating: 1, count: 600), true),
        ] {
            let reader = ForeignTarReader(reading: TarStream(MemorySource(bytes)))
            var count = 0
            while try reader.next() != nil { count += 1 }
            #expect(count == 2)
            #expect(reader.hasTrailer)
            #expect(reader.lacksEndMark == lacksEndMark)
        }
    }

    /// A damaged label of one block would otherwise be an archive of nothing.
    @Test(arguments: ["V", "5", "2", "1", "0", "x", "g", "L", "K"])
    func `refuses negative and absurd sizes in headers of any kind`(_ type: String) {
        for size in [-1, Int64.min + 1, Int64.max] {
            var tar = RawTar()
            tar.add("name", type: type, size: RawTar.base256(size), link: "a", magic: .gnu)
            #expect(code(tar.ended()) == .damaged, "\(size)")
        }
    }

    @Test func `skips what a volume label holds`() throws {
        var tar = RawTar()
        tar.add("label", type: "V", content: [1, 2, 3], magic: .gnu)
        tar.add("a")
        #expect(try tar.items().map(\.entry.path.description) == ["a"])
    }

    @Test func `refuses a wrong checksum`() {
        var bytes = sample.ended()
        bytes[0] ^= 1
        #expect(code(bytes) == .damaged)
    }

    @Test(arguments: ["x", "L", "K", "X"])
    func `refuses a header that has no entry behind it`(_ type: String) {
        var tar = sample
        let content = type.lowercased() == "x" ? "7 a=bc\n" : "name\0"
        tar.add("h", type: type, content: [UInt8](content.utf8))
        #expect(code(tar.ended()) == .damaged)
    }

    @Test(arguments: ["x", "g", "L", "K"])
    func `refuses headers of absurd sizes`(_ type: String) {
        for size: Int64 in [.max, -1, 1 << 31, (1 << 20) + 1] {
            for isSecond in [false, true] {
                var tar = RawTar()
                if isSecond { tar.addRecords([("comment", "x")]) }
                tar.add("h", type: type, size: RawTar.base256(size), magic: .gnu)
                tar.add("f")
                #expect(code(tar.ended()) == .damaged, "\(size)")
            }
        }
    }

    @Test func `refuses headers that are too many together`() {
        let value = String(repeating: "v", count: 600_000)
        var tar = RawTar()
        tar.addRecords([("comment", value)])
        tar.addRecords([("other", value)])
        tar.add("f")
        #expect(code(tar.ended()) == .damaged)
    }

    /// Only the relevant ones are kept, so any number of them takes no memory.
    @Test func `takes many global headers`() throws {
        let value = String(repeating: "v", count: 900_000)
        var tar = RawTar()
        for number in 0..<3 { tar.addRecords([("key\(number)", value)], type: "g") }
        tar.add("f")
        #expect(try tar.items().count == 1)
    }

    @Test(arguments: ["-1", "x", "", "9223372036854775807", "9223372036854775808"])
    func `refuses sizes that are none`(_ size: String) throws {
        var tar = RawTar()
        tar.addRecords([("size", size)])
        tar.add("f", size: [UInt8]("00000000009".utf8))
        #expect(throws: ArchiveError.self) { try tar.items() }
        for value: Int64 in [.max, -1] {
            var binary = RawTar()
            binary.add("f", size: RawTar.base256(value), magic: .gnu)
            #expect(code(binary.ended()) == .damaged)
        }
    }

    @Test(arguments: [
        ("mtime", "x"), ("GNU.sparse.offset", "1"), ("GNU.sparse.numbytes", "1"),
        ("SCHILY.xattr.user.a\0b", "x"), ("path", "a\0b"),
    ])
    func `refuses records that say nothing`(_ key: String, _ value: String) {
        var tar = RawTar()
        tar.addRecords([(key, value)])
        tar.add("f")
        #expect(code(tar.ended()) == .damaged)
    }

    @Test func `counts what sparse files claim without overflowing`() {
        var totals = ArchiveTotals()
        for _ in 0..<3 {
            totals.count(
                ArchiveEntry(
                    path: EntryPath("f"),
                    kind: .file(size: UInt64(Int64.max)),
                    permissions: 0,
                    modificationTime: FileTime(seconds: 0)
                )
            )
        }
        #expect(totals.contentBytes == .max)
        #expect(totals.files == 3)
    }
}
