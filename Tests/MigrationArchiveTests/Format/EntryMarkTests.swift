import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// The sub-second times of entries, in frames beside the stream.
@Suite(.scratchDirectory)
struct EntryMarkTests {
    private static func time(_ nanoseconds: UInt32) -> FileTime {
        FileTime(seconds: 1_700_000_000, nanoseconds: nanoseconds)
    }

    private static let items = [
        Item(.directory("d", time: time(1))), Item(.file("d/e", time: time(999_999_999))),
        Item(.file("d/f", time: FileTime(seconds: -2, nanoseconds: 500_000_000))),
        Item(.hardLink("d/h", to: "d/e")), Item("d/n", text(9_000_000)),
        Item(.file("e", time: FileTime(seconds: .max, nanoseconds: 7))),
    ]

    private func mark(_ nanoseconds: UInt32, _ place: WindowPlace = .first) -> EntryMark {
        EntryMark(of: .file("f", time: Self.time(nanoseconds)), place)
    }

    private func littleEndian(_ values: UInt32...) -> [UInt8] {
        values.reduce(into: []) { $0.appendLittleEndian($1) }
    }

    private func parse(_ frame: [UInt8], after start: Int = 5) throws -> [EntryMark] {
        let buffer = FrameBuffer()
        buffer.append(([UInt8](repeating: 1, count: start) + frame).span)
        var position = start
        let marks = try [EntryMark](parsing: buffer, at: &position)
        #expect(position == buffer.count)
        return marks
    }

    @Test func `writes the layout that is documented`() throws {
        let marks = [mark(0), mark(1, .further), mark(999_999_999, .further)]
        #expect(marks.encoded == littleEndian(0x184D_2A5B, 12, 1 << 31, 1, 999_999_999))
        #expect(marks.map(\.place) == [.first, .further, .further])
        #expect(try parse(marks.encoded) == marks)
        #expect([EntryMark]().encoded == [])
        #expect(try parse([]) == [])
    }

    @Test func `refuses frames that none writes`() {
        let wrong = [
            littleEndian(0x184D_2A5B, 0), littleEndian(0x184D_2A5B), littleEndian(0x184D_2A5B, 4),
            littleEndian(0x184D_2A5C, 4, 1), littleEndian(0x184D_2A5B, 8, 1),
            littleEndian(0x184D_2A5B, 4, 1, 2), littleEndian(0x184D_2A5B, 3, 1),
            littleEndian(0x184D_2A5B, 4, 1) + [0], littleEndian(0x184D_2A5B, 5, 1) + [0],
            littleEndian(0x184D_2A5B, 4, 1_000_000_000), littleEndian(0x184D_2A5B, 4, 1 << 30),
            littleEndian(0x184D_2A5B, 4, 1 << 31 | 1_000_000_000), [0],
        ]
        for frame in wrong {
            let error = #expect(throws: ArchiveError.self, "\(frame)") { try parse(frame) }
            #expect(error?.code == .damaged)
        }
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `come back with the entries`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        #expect(try archive.items(route) == Self.items)
        #expect(try archive.verify().fingerprint == archive.summary?.fingerprint)
    }

    @Test func `lie behind the frames in which entries begin, and only there`() throws {
        let archive = try TestArchive(Self.items, header: .storedSample)
        let frames = try archive.parts.frames
        // A stored frame: a header of 9 bytes, 3 for each block of 128 KiB, a checksum of 4.
        let sizes = try archive.index.frames.map { frame in
            9 + 3 * ((Int(frame.size) + 131_071) / 131_072) + Int(frame.size) + 4
        }
        let extra = zip(frames, sizes).map { [UInt8]($0.dropFirst($1)) }
        let marks = [1, 999_999_999, 500_000_000, 0, 0].map { mark($0) }
        #expect(extra[0] == marks.encoded)
        #expect(extra[1] == [])
        // The table of large files follows.
        let last = [mark(7)].encoded
        #expect(extra[2].starts(with: last))
        #expect(
            try LargeFile.files(in: [UInt8](extra[2].dropFirst(last.count)), holding: []).count == 1
        )
    }

    @Test func `belong to the piece in which the header begins, wherever that ends`() throws {
        // The header of `b` is the last block of a piece, and its extended header that of another one.
        for shift in [512, 1024, 1536] {
            let size = FrameFormat.chunkSize - 512 - shift
            let long = String(repeating: "n", count: 200)
            let items = [
                Item("a", text(size)), Item(.file(long, time: Self.time(3))),
                Item(.file("z", time: Self.time(4))),
            ]
            for route in TestArchive.Route.allCases {
                #expect(try TestArchive(items).items(route) == items, "\(shift) by \(route)")
            }
        }
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `are refused unless there is one for each entry`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        let right = [mark(1), mark(999_999_999), mark(500_000_000), mark(0), mark(0)]
        #expect(try archive.replacingMarks(ofPiece: 0, with: right).bytes == archive.bytes)
        let lies: [(piece: Int, marks: [EntryMark])] = [
            (0, []), (0, [mark(1)]), (0, right.dropLast()), (0, right + [mark(0)]),
            (1, [mark(0)]), (2, []), (2, [mark(7), mark(0)]),
            // The hard link with a time.
            (0, [mark(1), mark(999_999_999), mark(500_000_000), mark(1), mark(0)]),
            // An entry that is in the window of another one.
            (0, [mark(1), mark(999_999_999, .further), mark(500_000_000), mark(0), mark(0)]),
            (0, [mark(1, .further)] + right.dropFirst()),
        ]
        for (piece, marks) in lies {
            let lying = try archive.replacingMarks(ofPiece: piece, with: marks)
            let error = #expect(throws: ArchiveError.self, "\(piece): \(marks)") {
                try lying.items(route).count
            }
            #expect([.damaged, .refused].contains(error?.code))
        }
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `are covered by the fingerprint`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        let other = try archive.replacingMarks(ofPiece: 2, with: [mark(8)])
        #expect(try other.index.fingerprint != archive.index.fingerprint)
        #expect(try other.items(route).last?.entry.modificationTime.nanoseconds == 8)
        // The right hash with other marks.
        let lying = try archive.replacingMarks(ofPiece: 2, withFrame: [mark(8)].encoded)
        #expect(throws: ArchiveError.self) { try lying.items(route).count }
    }

    @Test(arguments: [TestArchive.Route.wholeFile, .pipe])
    func `are refused where they claim to be many`(_ route: TestArchive.Route) throws {
        let archive = try TestArchive(Self.items)
        for size in [UInt32(32_772), 1 << 30, .max] {
            let frame = littleEndian(0x184D_2A5B, size, 0)
            let lying = try archive.replacingMarks(ofPiece: 0, withFrame: frame)
            #expect(throws: ArchiveError.self) { try lying.items(route).count }
            #expect(throws: ArchiveError.self) { try lying.verify(route) }
        }
    }
}
