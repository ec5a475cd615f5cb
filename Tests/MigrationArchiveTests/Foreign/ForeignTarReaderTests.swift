import MigrationSystem
import TestSupport
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

    @Test func `reads headers as AIX and others write them`() throws {
        var tar = RawTar()
        tar.add("link", type: "2", time: [UInt8]("\01722000726 ".utf8), link: "to")
        tar.add("blank", time: [UInt8](repeating: UInt8(ascii: " "), count: 12))
        #expect(try tar.items().map(\.entry.modificationTime.seconds) == [0, 0])
        var bytes = tar.ended()
        let checksum = UstarBlock(copying: bytes[...]).checksum
        let digits = [UInt8](String(checksum, radix: 8).utf8)
        let rest = [0] + [UInt8](" 36\0".utf8)
        let field = digits.suffix(4) + rest.prefix(4)
        try #require(checksum < 0o10000)
        bytes.replaceSubrange(148..<156, with: field)
        #expect(try RawTar.items(in: bytes).count == 2)
        bytes[148] ^= 1
        #expect(throws: ArchiveError.self) { try RawTar.items(in: bytes) }
    }

    @Test func `decodes a long time of a global header once`() throws {
        var tar = RawTar()
        tar.addRecords([("mtime", "1." + String(repeating: "0", count: 100_000))], type: "g")
        for name in 0..<2_000 { tar.add("\(name)") }
        #expect(try tar.items().allSatisfy { $0.entry.modificationTime.seconds == 1 })
    }

    @Test func `takes an empty record for no time, in place of a global one too`() throws {
        var tar = RawTar()
        tar.addRecords([("mtime", "5")], type: "g")
        tar.add("global")
        tar.addRecords([("mtime", "")])
        tar.add("own", time: [UInt8]("00000000007".utf8))
        tar.addRecords([("mtime", "")], type: "g")
        tar.add("cleared", time: [UInt8]("00000000006".utf8))
        #expect(try tar.items().map(\.entry.modificationTime.seconds) == [5, 7, 6])
    }

    @Test func `cleans names and leaves out the root`() throws {
        var tar = RawTar()
        for name in ["./", ".", "./a", "a//b", "a/./c/", "././"] { tar.add(name, type: "5") }
        #expect(try tar.items().map(\.entry.path.description) == ["a", "a/b", "a/c"])
    }

    @Test(arguments: [
        ("3", "a device"), ("4", "a device"), ("6", "a FIFO"),
        ("D", "an incremental backup's directory"), ("M", "a part of a multi-volume archive"),
        ("N", "an entry of an unsupported kind ('N')"),
        ("Z", "an entry of an unsupported kind ('Z')"),
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
            reader.takeOmissions()
                == [EntryOmission(path: EntryPath("f"), kind: .extendedAttribute(name: name))]
        )
        #expect(reader.takeOmissions().isEmpty)
    }

    @Test func `keeps of what it drops only what the last entry has, and no endless name`() throws {
        let long = String(repeating: "t", count: 1_000)
        var tar = RawTar()
        for name in ["a", "b"] {
            tar.addRecords([("SCHILY.xattr.\(long)", "x")])
            tar.add(name)
        }
        let reader = ForeignTarReader(reading: TarStream(MemorySource(tar.ended())))
        for _ in ["a", "b"] { _ = try reader.next() }
        let name = [UInt8]((String(repeating: "t", count: 255) + "\u{2026}").utf8)
        #expect(
            reader.takeOmissions()
                == [EntryOmission(path: EntryPath("b"), kind: .extendedAttribute(name: name))]
        )
    }
}
