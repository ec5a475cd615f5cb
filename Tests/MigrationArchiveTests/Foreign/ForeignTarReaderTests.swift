import MigrationSystem
import Testing

@testable import MigrationArchive

struct ForeignTarReaderTests {
    @Test func `reads headers older than ustar`() throws {
        var tar = RawTar()
        tar.add("d/", type: "\0", magic: .v7)
        tar.add("d/f", type: "\0", content: [1, 2], mode: "   644 \0", magic: .v7)
        tar.add("c", type: "7", content: [3])
        let items = try tar.items()
        #expect(items.map(\.entry.kind) == [.directory, .file(size: 2), .file(size: 1)])
        #expect(items.map(\.entry.path.description) == ["d", "d/f", "c"])
        #expect(items.map(\.content) == [[], [1, 2], [3]])
        #expect(items.allSatisfy { $0.entry.permissions == 0o644 })
        #expect(items[1].entry.modificationTime == ArchiveEntry.sampleTime)
    }

    @Test func `reads GNU's long names and long targets`() throws {
        let (name, target) = (
            String(repeating: "n", count: 150), String(repeating: "t", count: 300)
        )
        var tar = RawTar()
        tar.add("././@LongLink", type: "K", content: [UInt8]("\(target)\0".utf8), magic: .gnu)
        tar.add("././@LongLink", type: "L", content: [UInt8]("\(name)\0".utf8), magic: .gnu)
        tar.add(String(name.prefix(100)), type: "2", link: "short", magic: .gnu)
        tar.add("next", magic: .gnu)
        let items = try tar.items()
        #expect(items.map(\.entry.path.description) == [name, "next"])
        #expect(items[0].entry.kind == .symbolicLink(target: [UInt8](target.utf8)))
    }

    @Test func `joins a prefix with a name in ustar and in no other format`() throws {
        for (magic, path) in [(RawTar.Magic.ustar, "p/f"), (.gnu, "f"), (.v7, "f")] {
            var tar = RawTar()
            tar.add("f", magic: magic, fields: [(345, [UInt8]("p".utf8))])
            #expect(try tar.items().map(\.entry.path.description) == [path])
        }
    }

    @Test func `takes what pax records say over the header`() throws {
        var tar = RawTar()
        tar.addRecords([
            ("path", "é"), ("mtime", "-1.5"), ("size", "3"), ("SCHILY.xattr.user.a", "v"),
            ("comment", "no"),
        ])
        tar.add("e", content: [1, 2, 3], size: [UInt8]("00000000000".utf8))
        tar.addRecords([("path", "other"), ("path", "")])
        tar.add("kept")
        tar.addRecords([("linkpath", "to")])
        tar.add("l", type: "2", link: "no")
        let items = try tar.items()
        #expect(items.map(\.entry.path.description) == ["é", "kept", "l"])
        #expect(items[0].content == [1, 2, 3])
        let time = FileTime(seconds: -2, nanoseconds: 500_000_000)
        #expect(items[0].entry.modificationTime == time)
        let attribute = ExtendedAttribute(
            name: [UInt8]("user.a".utf8),
            value: [UInt8("v".utf8.first ?? 0)]
        )
        #expect(items[0].entry.extendedAttributes == [attribute])
        #expect(items[2].entry.kind == .symbolicLink(target: [UInt8]("to".utf8)))
    }

    @Test func `takes a time from a global header where an entry has none`() throws {
        var tar = RawTar()
        tar.addRecords([("mtime", "5"), ("comment", "of git")], type: "g")
        tar.add("a")
        tar.addRecords([("mtime", "7")])
        tar.add("b")
        tar.addRecords([("mtime", "9")], type: "g")
        tar.add("c")
        #expect(try tar.items().map(\.entry.modificationTime.seconds) == [5, 7, 9])
    }

    @Test(arguments: ["path", "linkpath", "size", "GNU.sparse.name", "GNU.sparse.map"])
    func `refuses a global header that names or sizes every entry`(_ key: String) throws {
        var tar = RawTar()
        tar.addRecords([(key, "1")], type: "g")
        tar.add("a")
        let error = #expect(throws: ArchiveError.self) { try tar.items() }
        #expect(error?.code == .refused)
    }

    @Test func `reads negative times and large sizes in base 256`() throws {
        var tar = RawTar()
        tar.add("f", content: [9], size: RawTar.base256(1), time: RawTar.base256(-2), magic: .gnu)
        let items = try tar.items()
        #expect(items.map(\.content) == [[9]])
        #expect(items[0].entry.modificationTime == FileTime(seconds: -2))
    }

    @Test func `cleans names and leaves out the root`() throws {
        var tar = RawTar()
        for name in ["./", ".", "./a", "a//b", "a/./c/", "././"] { tar.add(name, type: "5") }
        #expect(try tar.items().map(\.entry.path.description) == ["a", "a/b", "a/c"])
    }

    @Test(arguments: [
        ("3", "a device"), ("4", "a device"), ("6", "a FIFO"),
        ("D", "an incremental backup's directory"), ("M", "a part of a multi-volume archive"),
        ("N", "an entry of a kind that is not taken ('N')"),
        ("Z", "an entry of a kind that is not taken ('Z')"),
    ])
    func `refuses what is no file, directory or link`(_ type: String, _ message: String) throws {
        var tar = RawTar()
        tar.add("x", type: type)
        let error = #expect(throws: ArchiveError.self) { try tar.items() }
        #expect(error?.code == .refused)
        #expect(error?.message == message)
    }

    @Test(arguments: ["../a", "a/../b", "/a", "//a", "..", "a/.."])
    func `refuses names that lead out`(_ name: String) throws {
        var plain = RawTar()
        plain.add(name)
        var long = RawTar()
        long.add("././@LongLink", type: "L", content: [UInt8]("\(name)\0".utf8), magic: .gnu)
        long.add("x", magic: .gnu)
        var pax = RawTar()
        pax.addRecords([("path", name)])
        pax.add("x")
        var sparse = RawTar()
        sparse.addRecords([("GNU.sparse.name", name)])
        sparse.add("x")
        var link = RawTar()
        link.add("h", type: "1", link: name)
        for tar in [plain, long, pax, sparse, link] {
            let error = #expect(throws: ArchiveError.self) { try tar.items() }
            #expect(error?.code == .refused)
        }
    }

    @Test func `drops attributes outside of the user's namespace and says so`() throws {
        var tar = RawTar()
        tar.addRecords([("SCHILY.xattr.security.capability", "x"), ("SCHILY.xattr.user.a", "")])
        tar.add("f")
        let reader = ForeignTarReader(reading: TarStream(MemorySource(tar.ended())))
        let entry = try #require(try reader.next())
        #expect(entry.extendedAttributes.map(\.name) == [[UInt8]("user.a".utf8)])
        let name = [UInt8]("security.capability".utf8)
        #expect(
            reader.takeDrops()
                == [EntryDrop(path: EntryPath("f"), kind: .extendedAttribute(name: name))]
        )
        #expect(reader.takeDrops().isEmpty)
    }
}

/// Streams that are not what a tar wrote.
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

    @Test func `refuses a stream without its end mark`() {
        #expect(code(sample.bytes) == .truncated)
    }

    @Test func `fails at every truncation`() {
        let bytes = sample.ended(1)
        for count in 0..<bytes.count where count % 512 < 5 || count % 512 > 508 {
            #expect(code([UInt8](bytes.prefix(count))) == .truncated, "\(count)")
        }
    }

    @Test func `refuses what follows the end`() {
        #expect(code(sample.ended() + sample.ended()) == .damaged)
        #expect(code(sample.ended() + [1]) == .damaged)
        #expect(code(sample.ended() + [UInt8](repeating: 0, count: 511) + [1]) == .damaged)
        #expect(code(sample.ended(1) + sample.ended()) == .damaged)
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

    /// Only what counts is kept of them, so any number of them takes no memory.
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
