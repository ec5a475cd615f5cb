import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct EntryIndexTests {
    private static let chunk = UInt64(FrameFormat.chunkSize)

    /// An index of five frames, in two of which no entry is listed.
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

    private func record(_ block: Int, _ path: String) -> [UInt8] {
        littleEndian(block, 2) + littleEndian(path.utf8.count, 2) + [UInt8](path.utf8)
    }

    private func parse(_ bytes: [UInt8], frameCount: Int = 5) throws -> EntryIndex {
        try EntryIndex(parsing: bytes, frameCount: frameCount)
    }

    @Test func `writes the layout that is documented`() {
        let records =
            record(2, "a/b") + record(0, "") + record(1, "c") + record(0, "é/z") + record(0, "")
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
        for (path, start, end) in [
            ("A", nil, first), ("a", nil, third), ("a/b", nil, third), ("a/c", first, third),
            ("b", first, third), ("c", first, fourth), ("d", third, fourth), ("é", third, nil),
            ("é/a", third, fourth), ("é/z", third, nil), ("é/zz", fourth, nil), ("ü", fourth, nil),
        ] {
            let range = index.range(of: EntryPath(path))
            #expect(range == EntryIndex.Range(start: start, end: end), "\(path)")
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
            let isHeld = builder.add(
                .file(size: 0),
                at: EntryPath(path),
                offset: offset,
                place
            )
            #expect(isHeld)
        }
        let bytes = builder.encoded(frameCount: 3)
        #expect(bytes[12...].elementsEqual(record(1, "a.b") + record(0, "e.x") + record(1, "g")))
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
            #expect(index.range(of: EntryPath("z")).start == (isListed ? 1024 : nil))
        }
        var builder = EntryIndexBuilder()
        let count = EntryIndex.pathBytesLimit / 1024
        for number in 0...count + 1 {
            let path = EntryPath(bytes: [UInt8](repeating: UInt8(ascii: "p"), count: 1024))
            builder.add(path, at: UInt64(number) * Self.chunk)
        }
        builder.add(EntryPath("z"), at: UInt64(count + 2) * Self.chunk)
        let bytes = builder.encoded(frameCount: count + 3)
        #expect(bytes.count == 12 + 4 * (count + 3) + EntryIndex.pathBytesLimit)
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
        long.replaceSubrange(12..<16, with: [0, 0, 1, 4] + [UInt8](repeating: 97, count: 1025))
        long.replaceSubrange(4..<8, with: littleEndian(long.count - 8, 4))
        var cases = [bytes + [0], [], long]
        // The magic, the size, the order, the zeros, a block past the frame, a block of no entry, paths
        // out of order.
        let changes = [(0, 0x5D), (4, 0), (8, 2), (9, 1), (13, 0x20), (19, 1), (16, 122)]
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

    /// Indexes of `items` that are sound in themselves but not true.
    private static var lies: [(String, EntryIndexBuilder, frameCount: Int)] {
        let places: [(String, UInt64)] = [("a", 0), ("b", 5_000_704), ("d", 14_002_688)]
        func builder(_ places: [(String, UInt64)]) -> EntryIndexBuilder {
            places.reduce(into: EntryIndexBuilder()) { $0.add(EntryPath($1.0), at: $1.1) }
        }
        return [
            ("nothing", EntryIndexBuilder(), 4), ("an entry less", builder(places.dropLast()), 4),
            ("another path", builder([places[0], ("bb", places[1].1), places[2]]), 4),
            ("another place", builder([places[0], ("b", places[1].1 + 512), places[2]]), 4),
            ("another frame", builder([places[0], ("b", places[1].1 + chunk), places[2]]), 4),
            ("another order", builder(places + [("a", places[2].1 + 512)]), 4),
            ("a frame more", builder(places), 5), ("a frame less", builder([places[0]]), 3),
        ]
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `is refused unless it says what the archive holds`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        #expect(try archive.index.frames.count == 4)
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
