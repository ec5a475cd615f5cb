import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct EntryIndexTests {
    private static let chunk = UInt64(FrameFormat.chunkSize)

    /// An index of five frames; two of them list no entry.
    private static var sample: EntryIndexBuilder {
        var builder = EntryIndexBuilder()
        builder.add(EntryPath("a/b"), at: 1024)
        builder.add(EntryPath("a"), at: 1536)
        builder.add(EntryPath("c"), at: 2 * chunk + 512)
        builder.add(EntryPath("é/y"), at: 3 * chunk - 512)
        builder.add(EntryPath("é/z"), at: 3 * chunk)
        return builder
    }

    private func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The record of a piece that begins with a small file, or of one in which no entry begins.
    private func piece(_ block: Int, _ path: String, beginsWindow: Bool = true) -> [UInt8] {
        let what: [UInt8] = path.isEmpty ? [0, 0] : [2, beginsWindow ? 3 : 1]
        return littleEndian(block, 2) + what + named(path)
    }

    private func window(_ piece: Int, _ path: String) -> [UInt8] {
        littleEndian(piece, 4) + named(path)
    }

    private func named(_ path: String) -> [UInt8] {
        littleEndian(path.utf8.count, 2) + [UInt8](path.utf8)
    }

    private func parse(_ bytes: [UInt8], frameCount: Int = 5) throws -> EntryIndex {
        try EntryIndex(parsing: bytes, frameCount: frameCount)
    }

    @Test func `writes the layout that is documented`() {
        let pieces =
            piece(2, "a/b") + piece(0, "") + piece(1, "c") + piece(0, "é/z") + piece(0, "")
        let windows = window(0, "a/b") + window(2, "c") + window(3, "é/z")
        let records = pieces + littleEndian(3, 4) + windows + littleEndian(0, 4)
        let head = littleEndian(0x184D_2A5C, 4) + littleEndian(4 + records.count, 4)
        #expect(Self.sample.encoded(frameCount: 5) == head + [1, 0, 0, 0] + records)
    }

    @Test func `says that entries are in no order`() throws {
        for second in ["a/a", "A", "a/b"] {
            var builder = EntryIndexBuilder()
            builder.add(EntryPath("a/b"), at: 1024)
            builder.add(EntryPath(second), at: 1536)
            let index = try parse(builder.encoded(frameCount: 1), frameCount: 1)
            #expect(!index.isInTreeOrder)
        }
    }

    @Test func `finds where to read on`() throws {
        let index = try parse(Self.sample.encoded(frameCount: 5))
        let (first, third, fourth) = (UInt64(1024), 2 * Self.chunk + 512, 3 * Self.chunk)
        let last = UInt64.max
        for (path, start, end) in [
            ("A", 0, first), ("a", 0, third), ("a/b", 0, third), ("a/c", first, third),
            ("b", first, third), ("c", first, fourth), ("d", third, fourth), ("é", third, last),
            ("é/a", third, fourth), ("é/z", third, last), ("é/zz", fourth, last),
            ("ü", fourth, last),
        ] {
            #expect(index.range(of: EntryPath(path)) == start..<end, "\(path)")
        }
    }

    /// Two windows begin in the first of three frames, and one reaches into the last.
    @Test func `lists the first path of the first window that begins in a frame`() throws {
        var builder = EntryIndexBuilder()
        let entries: [(String, UInt64, WindowPlace)] = [
            ("b.a", 512, .first), ("a.b", 1024, .further), ("c", 1536, .first),
            ("d", Self.chunk, .further), ("f", Self.chunk + 512, .first),
            ("e.x", 2 * Self.chunk + 512, .further), ("g", 2 * Self.chunk + 1024, .first),
        ]
        for (path, offset, place) in entries {
            let isHeld = builder.add(.file(path), offset: offset, place: place)
            #expect(isHeld)
        }
        let bytes = builder.encoded(frameCount: 3)
        let pieces =
            piece(1, "b.a") + piece(0, "d", beginsWindow: false)
            + piece(1, "e.x", beginsWindow: false)
        let windows = window(0, "a.b") + window(1, "e.x") + window(2, "g")
        let expected = pieces + littleEndian(3, 4) + windows + littleEndian(0, 4)
        #expect(bytes[12...].elementsEqual(expected))
    }

    @Test func `leaves out what would make it large`() throws {
        let name = String(repeating: "n", count: 255)
        let long = [name, name, name, name].joined(separator: "/")
        #expect(long.utf8.count == 1023)
        for (path, isListed) in [(long + "n", true), (long + "nn", false)] {
            var builder = EntryIndexBuilder()
            builder.add(EntryPath(path), at: 1024)
            builder.add(EntryPath("z"), at: 2048)
            let index = try parse(builder.encoded(frameCount: 1), frameCount: 1)
            #expect(index.range(of: EntryPath("z")).lowerBound == (isListed ? 1024 : 0))
        }
        var builder = EntryIndexBuilder()
        let count = EntryIndex.pathBytesLimit / 1024
        for number in 0...count + 1 {
            let path = EntryPath(bytes: [UInt8](repeating: UInt8(ascii: "p"), count: 1024))
            builder.add(path, at: UInt64(number) * Self.chunk)
        }
        builder.add(EntryPath("z"), at: UInt64(count + 2) * Self.chunk)
        let bytes = builder.encoded(frameCount: count + 3)
        let heads = 6 * (count + 3) + 6 * count
        #expect(bytes.count == 12 + 8 + heads + 2 * EntryIndex.pathBytesLimit)
        #expect(bytes.count <= EntryIndex.sizeLimit(frameCount: count + 3))
        #expect(try !parse(bytes, frameCount: count + 3).isInTreeOrder)
    }

    @Test func `refuses every truncation and another number of frames`() {
        let bytes = Self.sample.encoded(frameCount: 5)
        for position in bytes.indices {
            #expect(throws: ArchiveError.self) { try parse([UInt8](bytes.prefix(position))) }
        }
        for frameCount in [0, 1, 4, 6, 1 << 20] {
            #expect(throws: ArchiveError.self) { try parse(bytes, frameCount: frameCount) }
        }
    }

    @Test func `refuses what no index holds`() {
        let bytes = Self.sample.encoded(frameCount: 5)
        var long = EntryIndexBuilder().encoded(frameCount: 5)
        let record: [UInt8] = [0, 0, 2, 1, 1, 4]
        long.replaceSubrange(12..<18, with: record + [UInt8](repeating: 97, count: 1025))
        long.replaceSubrange(4..<8, with: littleEndian(long.count - 8, 4))
        var cases = [bytes + [0], [], long]
        // The magic, the size, the order, the zeros, a block past the piece, a kind and a flag that
        // don't exist, the path and the block of no entry, windows out of order, two windows of a
        // piece, a window where no entry begins and one behind the last piece, and a table that
        // doesn't exist.
        let changes = [
            (0, 0x5D), (4, 0), (8, 2), (9, 1), (13, 0x20), (14, 5), (15, 4), (14, 0), (21, 1),
            (60, 122), (63, 0), (63, 1), (70, 9), (80, 1),
        ]
        for (position, value) in changes {
            var changed = bytes
            changed[position] = UInt8(value)
            cases.append(changed)
        }
        for bytes in cases {
            let error = #expect(throws: ArchiveError.self) { try parse(bytes) }
            #expect(error?.code == .damaged)
        }
    }

    // MARK: - In an archive

    private static let items = [
        Item("a", text(5_000_000)), Item("b", text(100)), Item("c", text(9_000_000)),
        Item("d", [7]),
    ]

    /// An entry as an index takes it.
    private typealias Place = (path: String, offset: UInt64, size: Int)

    private static let places: [Place] = [
        ("a", 0, 5_000_000), ("b", 5_000_704, 100), ("c", 5_001_728, 9_000_000),
        ("d", 14_002_688, 1),
    ]

    private static func builder(_ places: [Place]) -> EntryIndexBuilder {
        places.reduce(into: EntryIndexBuilder()) {
            $0.add(EntryPath($1.path), at: $1.offset, size: $1.size)
        }
    }

    /// The index of `items` with another entry in place of number `index`.
    private static func changing(_ index: Int, _ place: Place) -> EntryIndexBuilder {
        var changed = places
        changed[index] = place
        return builder(changed)
    }

    /// Indexes of `items` that are well formed but wrong.
    private static var lies: [(String, EntryIndexBuilder, frameCount: Int)] {
        let (second, third, last) = (places[1].offset, places[2].offset, places[3].offset)
        return [
            ("nothing", EntryIndexBuilder(), 4), ("an entry less", builder(places.dropLast()), 4),
            ("another path", changing(1, ("bb", second, 100)), 4),
            ("another place", changing(1, ("b", second + 512, 100)), 4),
            ("another frame", changing(1, ("b", second + chunk, 100)), 4),
            ("another order", builder(places + [("a", last + 512, 1)]), 4),
            ("a large file less", builder([places[0], places[1], places[3]]), 4),
            ("a large file by another name", changing(2, ("cc", third, 9_000_000)), 4),
            ("a large file of another size", changing(2, ("c", third, 8_000_000)), 4),
            ("a large file elsewhere", changing(2, ("c", third + 512, 9_000_000)), 4),
            ("a small file as a large one", changing(1, ("b", second, 100_000)), 4),
            ("a frame more", builder(places), 5), ("a frame less", builder([places[0]]), 3),
        ]
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `is refused unless it says what the archive holds`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        #expect(try archive.index.frames.count == 4)
        #expect(try archive.entryIndex == Self.builder(Self.places).encoded(frameCount: 4))
        for (lie, builder, frameCount) in Self.lies {
            let untrue = builder.encoded(frameCount: frameCount)
            #expect(try archive.entryIndex != untrue)
            let error = #expect(throws: ArchiveError.self, "\(lie)") {
                try archive.replacingEntryIndex(untrue).items(route).count
            }
            #expect(error?.code == .damaged, "\(lie)")
        }
        let same = try archive.replacingEntryIndex(archive.entryIndex)
        #expect(same.bytes == archive.bytes)
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `is refused where it claims an order that there is not`(
        _ route: TestArchive.Route
    ) throws {
        let archive = try TestArchive(Self.items.reversed())
        var entries = try archive.entryIndex
        #expect(entries[8] == 0)
        #expect(try archive.items(route).count == 4)
        entries[8] = 1
        #expect(throws: ArchiveError.self) {
            try archive.replacingEntryIndex(entries).items(route).count
        }
    }

    @Test(arguments: [TestArchive.Route.wholeFile, .pipe])
    func `is checked for its form when an archive is verified`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        let entries = try archive.entryIndex
        let size = EntryIndex.sizeLimit(frameCount: 4) + 1
        for wrong in [[], [UInt8](entries.dropLast()), entries + [0], noise(size)] {
            #expect(throws: ArchiveError.self) {
                try archive.replacingEntryIndex(wrong).verify(route)
            }
        }
        // Another archive's, with the hash of this one's.
        var bytes = archive.bytes
        let end = Int(try archive.index.compressedBytes)
        bytes[end - 1] ^= 1
        #expect(throws: ArchiveError.self) { try TestArchive(bytes: bytes).verify(route) }
    }
}
