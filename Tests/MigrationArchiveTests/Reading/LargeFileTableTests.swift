import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// The table of large files, which repeats headers without the pieces that hold them.
@Suite(.scratchDirectory)
struct LargeFileTableTests {
    private static let time = FileTime(seconds: -5, nanoseconds: 250_000_000)
    private static let attribute = ExtendedAttribute(
        name: [UInt8]("user.a=b".utf8),
        value: [UInt8](0...255)
    )

    /// Large files with everything that a header can contain, small ones between them, and one
    /// whose record is too long.
    private static let items: [Item] = {
        var items: [Item] = []
        for number in 10..<30 {
            let size = 900_000 + number * 1_111
            let entry = ArchiveEntry.file(
                "f\(number)",
                size: size,
                permissions: 0o640,
                time: number % 3 == 0 ? time : ArchiveEntry.sampleTime,
                attributes: number % 4 == 0 ? [attribute] : []
            )
            var item = Item(entry)
            item.content = noise(size, seed: UInt64(number))
            items.append(item)
            if number == 17 { items.append(Item("f17a", text(100))) }
        }
        let long = ExtendedAttribute(name: [UInt8]("user.long".utf8), value: noise(5_000))
        var item = Item(ArchiveEntry.file("g", size: 70_000, attributes: [long]))
        item.content = noise(70_000)
        return items + [item, Item("h", text(65_537)), Item("i", text(65_536))]
    }()

    private func entries(_ reader: ArchiveReader) throws -> [ArchiveEntry] {
        var entries: [ArchiveEntry] = []
        while let entry = try reader.next() { entries.append(entry) }
        return entries
    }

    /// The pieces that hold entries that are not in the table.
    private func neededPieces(_ archive: TestArchive) throws -> [Bool] {
        let count = try archive.index.frames.count
        let index = try EntryIndex(parsing: archive.entryIndex, frameCount: count)
        return (0..<count).map { !index.isListed(piece: $0) }
    }

    @Test func `lists what it holds without the pieces`() throws {
        let archive = try TestArchive(Self.items)
        let needed = try neededPieces(archive)
        #expect(needed.count { !$0 } >= 2 && needed.count { $0 } == 2)
        var bytes = archive.bytes
        for (place, isNeeded) in zip(try archive.framePlaces, needed) where !isNeeded {
            bytes[place.lowerBound + 1_000_000] ^= 1
        }
        let damaged = TestArchive(bytes: bytes)
        let expected = Self.items.map(\.entry)
        #expect(try entries(damaged.reader(.selectiveFile)) == expected)
        #expect(try entries(damaged.reader(.listedFile)) == expected)
        #expect(throws: ArchiveError.self) { try entries(damaged.reader(.wholeFile)) }
        // A pipe holds no archive of this size.
        for route in [TestArchive.Route.wholeFile, .selectiveFile, .listedFile, .comparedFile] {
            #expect(try archive.items(route) == Self.items)
        }
        #expect(try archive.verify().fingerprint == archive.summary?.fingerprint)
    }

    @Test func `gives a content whose header it has only listed`() throws {
        let reader = try TestArchive(Self.items).reader(.selectiveFile)
        var number = 0
        while let entry = try reader.next() {
            #expect(entry == Self.items[number].entry)
            if number % 3 != 1 {
                #expect(try reader.content(of: entry) == Self.items[number].content)
            }
            number += 1
        }
        #expect(number == Self.items.count)
    }

    /// Within a window the order of its entries finds the piece.
    @Test(arguments: [false, true])
    func `finds one file, and nothing else is read`(_ isOneWindow: Bool) throws {
        let archive = try TestArchive(Self.items, inOneWindow: isOneWindow)
        let places = try archive.framePlaces
        for item in Self.items {
            let plain = try archive.reader(.selectiveFile)
            #expect(try plain.select([item.entry.path]))
            #expect(try plain.next() == item.entry)
            let start = plain.entryOffset - UInt64(try HeaderFrame.sample.contentSize)
            #expect(try plain.content(of: item.entry) == item.content)
            let first = Int(start) / FrameFormat.chunkSize
            let last = (Int(start) + 8192 + item.content.count) / FrameFormat.chunkSize
            var bytes = archive.bytes
            for (number, place) in places.enumerated() where !(first...last).contains(number) {
                bytes[place.lowerBound + place.count / 2] ^= 1
            }
            let reader = try TestArchive(bytes: bytes).reader(.selectiveFile)
            #expect(try reader.select([item.entry.path]))
            #expect(try reader.items() == [item])
        }
    }

    @Test func `is written in frames that lie where the records fill them`() throws {
        // A record has 34 bytes and the path; 236 of these take 64 KiB.
        let name = String(repeating: "n", count: 240)
        let items = (1000..<1500).map { Item("\(name)\($0)", text(65_537)) }
        let archive = try TestArchive(items)
        let count = try archive.index.frames.count
        let index = try EntryIndex(parsing: archive.entryIndex, frameCount: count)
        #expect(index.tables.count == 3)
        #expect(index.tables.last?.piece == count - 1)
        #expect(index.tables.dropLast().allSatisfy { $0.size >= 65_536 + 8 })
        let frames = try archive.parts.frames
        var held: [ArchiveEntry] = []
        for table in index.tables {
            let frame = [UInt8](frames[table.piece].suffix(table.size))
            #expect(SHA256Digest.hash(of: frame) == table.digest)
            held += try LargeFile.files(in: frame, holding: []).map(\.entry)
        }
        #expect(held == items.map(\.entry))
        #expect(try entries(archive.reader(.selectiveFile)) == items.map(\.entry))
    }

    // MARK: - Lies

    /// `archive` with other records in the table of its last piece, and with matching hashes.
    private func forging(_ archive: TestArchive, _ records: [UInt8]) throws -> TestArchive {
        let index = try archive.index
        let count = index.frames.count
        var entries = try archive.entryIndex
        let known = try EntryIndex(parsing: entries, frameCount: count)
        let table = try #require(known.tables.last)
        try #require(known.tables.count == 1 && table.piece == count - 1)
        let frame = LargeFile.frame(holding: records)
        entries.removeLast(40)
        entries.appendLittleEndian(UInt32(table.piece))
        entries.appendLittleEndian(UInt32(frame.count))
        entries += SHA256Digest.hash(of: frame)
        var (bytes, frames, _) = try archive.parts
        frames[count - 1] = [UInt8](frames[count - 1].dropLast(table.size)) + frame
        var forged = ArchiveIndex(after: try .sample)
        forged.totals = index.totals
        for (number, listing) in index.frames.enumerated() {
            forged.append(
                .init(compressedSize: UInt32(frames[number].count), size: listing.size),
                digest: [UInt8](index.digest(of: number))
            )
            bytes += frames[number]
        }
        forged.append(entryIndex: entries)
        return TestArchive(bytes: bytes + entries + forged.encoded)
    }

    private static let few = [
        Item("a", text(100_000)), Item("b", text(5_000_000)), Item("c", text(3_000_000)),
    ]

    private func records(_ change: (inout [(ArchiveEntry, UInt64)]) -> Void = { _ in }) -> [UInt8] {
        var files: [(ArchiveEntry, UInt64)] = [
            (.file("a", size: 100_000), 0), (.file("b", size: 5_000_000), 100_864),
            (.file("c", size: 3_000_000), 5_101_568),
        ]
        change(&files)
        return files.flatMap { LargeFile.record(of: $0.0, at: $0.1, .first) ?? [] }
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `is refused where it lies`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.few)
        #expect(try forging(archive, records()).bytes == archive.bytes)
        let lies: [(String, [UInt8])] = [
            ("another name", records { $0[1].0 = .file("bb", size: 5_000_000) }),
            ("another size", records { $0[1].0 = .file("b", size: 5_000_001) }),
            ("another mode", records { $0[1].0 = .file("b", size: 5_000_000, permissions: 0) }),
            ("another time", records { $0[1].0 = .file("b", size: 5_000_000, time: Self.time) }),
            ("another place", records { $0[1].1 += 512 }),
            ("a file less", records { $0.remove(at: 1) }),
            ("a file more", records { $0.append((.file("d", size: 70_000), 8_102_400)) }),
            ("no order", records { $0.swapAt(0, 1) }), ("a byte more", records() + [0]),
            ("a byte less", [UInt8](records().dropLast())), ("nothing", [1]),
        ]
        for (lie, records) in lies {
            let forged = try forging(archive, records)
            let error = #expect(throws: ArchiveError.self, "\(lie)") {
                try forged.items(route).count
            }
            #expect([.damaged, .refused, .truncated].contains(error?.code), "\(lie)")
        }
    }

    @Test(arguments: [TestArchive.Route.wholeFile, .comparedFile, .pipe])
    func `is refused where it is damaged`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.few)
        let end = try #require(try archive.framePlaces.last).upperBound
        let size = LargeFile.frame(holding: records()).count
        for position in end - size..<end {
            var bytes = archive.bytes
            bytes[position] ^= 1
            let damaged = TestArchive(bytes: bytes)
            #expect(throws: ArchiveError.self, "byte \(position)") { try damaged.items(route) }
        }
    }

    @Test func `takes no more memory for what it claims`() throws {
        let frame = LargeFile.frame(holding: records())
        for position in frame.indices {
            #expect(throws: ArchiveError.self) {
                try LargeFile.files(in: [UInt8](frame.prefix(position)), holding: [])
            }
        }
        var large = LargeFile.frame(holding: noise(LargeFile.frameSizeLimit))
        #expect(throws: ArchiveError.self) { try LargeFile.files(in: large, holding: []) }
        large = frame
        // The sizes of the path and of the attributes.
        for position in [38, 39, 40, 41] {
            large[position] = 0xFF
            #expect(throws: ArchiveError.self) { try LargeFile.files(in: large, holding: []) }
        }
    }

    // MARK: - Damage

    @Test func `damage costs the entries of one piece, and not of the window`() throws {
        let archive = try TestArchive(Self.items, inOneWindow: true)
        #expect(try archive.items(.selectiveFile) == Self.items)
        var bytes = archive.bytes
        bytes[try archive.framePlaces[1].lowerBound + 1_000_000] ^= 1
        let input = try TestArchive(bytes: bytes).input(.selectiveFile)
        let reader = try ArchiveReader(input, access: .selective, toleratingDamage: true)
        var found: [String] = []
        do {
            while let entry = try reader.next() { found.append(entry.path.description) }
            Issue.record("the damage was not found")
        } catch is ArchiveError {
            #expect(try reader.passOverDamage { _ in }?.path != nil)
        }
        while let entry = try reader.next() { found.append(entry.path.description) }
        let sound = try archive.reader(.selectiveFile)
        var expected: [String] = []
        while let entry = try sound.next() {
            let start = Int(sound.entryOffset) - (try HeaderFrame.sample.contentSize)
            if start / FrameFormat.chunkSize != 1 { expected.append(entry.path.description) }
        }
        #expect(found == expected)
        #expect(found.count > 10)
    }
}
