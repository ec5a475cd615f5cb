import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ArchiveRoundTripTests {
    static let frameSize = FrameFormat.chunkSize
    /// The bytes of the pieces before the content of the first file, and after that of the last.
    static let overhead = 512 + 1024

    @Test(
        arguments: [
            0, 1, 511, 512, 513, frameSize - overhead - 512, frameSize - overhead - 1,
            frameSize - overhead, frameSize - overhead + 1, frameSize - 1, frameSize, frameSize + 1,
            2 * frameSize + 77,
        ]
    )
    func `reads back a file of any size`(_ size: Int) throws {
        let item = Item("f", text(size))
        let archive = try TestArchive([item])
        let pieceBytes = 512 + (size + 511) / 512 * 512 + 1024
        #expect(try archive.index.pieceBytes == UInt64(pieceBytes))
        #expect(try archive.index.streamBytes == UInt64(1024 + pieceBytes))
        #expect(
            try archive.index.frames.count == (pieceBytes + Self.frameSize - 1) / Self.frameSize
        )
        #expect(try archive.items(.wholeFile) == [item])
        #expect(try archive.items(.selectiveFile) == [item])
        #expect(try archive.items(.pipe, threadCount: 1) == [item])
        let totals = try #require(archive.summary?.totals)
        #expect((totals.files, totals.contentBytes) == (1, UInt64(size)))
        #expect(archive.summary?.archiveBytes == UInt64(archive.bytes.count))
    }

    static let items = [
        Item(.directory("d", time: FileTime(seconds: 9, nanoseconds: 8))),
        Item("d/a", text(3_000_000)), Item("d/b", noise(5_000_000)),
        Item("d/c", []), Item("d/e", [UInt8](repeating: 0, count: 2_000_000)),
        Item(.symbolicLink("d/l", to: "a")), Item(.hardLink("h", to: "d/a")),
        Item("z", noise(1000)),
    ]

    @Test func `writes the same bytes with any number of threads`() throws {
        let archive = try TestArchive(Self.items, threadCount: 1)
        for threadCount in [2, 8] {
            let other = try TestArchive(Self.items, threadCount: threadCount)
            #expect(other.bytes == archive.bytes)
            #expect(other.summary?.fingerprint == archive.summary?.fingerprint)
        }
        for threadCount in [1, 2, 8] {
            #expect(try archive.items(.wholeFile, threadCount: threadCount) == Self.items)
        }
    }

    @Test func `says the same of an archive wherever it is asked`() throws {
        let archive = try TestArchive(Self.items)
        let summary = try #require(archive.summary)
        let reader = try archive.reader(.selectiveFile)
        #expect(reader.header == .sample)
        #expect(reader.totals == summary.totals)
        #expect(reader.fingerprint == summary.fingerprint)
        let verified = try archive.verify()
        #expect(verified.totals == summary.totals)
        #expect(verified.fingerprint == summary.fingerprint)
        #expect(verified.header == .sample)
        var totals = ArchiveTotals()
        (totals.files, totals.directories, totals.symbolicLinks, totals.hardLinks) = (5, 1, 1, 1)
        totals.contentBytes = 10_001_000
        // Whole pages of zeros don't count as data; those that frames cut in two do.
        totals.dataBytes = 10_001_000 - summary.totals.contentBytes + summary.totals.dataBytes
        #expect(summary.totals == totals)
        #expect((8_001_000...8_010_000).contains(summary.totals.dataBytes))
    }

    @Test func `knows what a pipe held once it was read`() throws {
        let archive = try TestArchive([Item("f", text(10))])
        let reader = try archive.reader(.pipe)
        #expect(reader.archiveBytes == nil)
        #expect(try reader.next() != nil)
        // Meanwhile another thread reads on to the end.
        for _ in 0..<200 {
            usleep(1000)
            if reader.fingerprint != nil || reader.totals != nil { break }
        }
        #expect(reader.fingerprint == nil)
        #expect(reader.totals == nil)
        #expect(try reader.next() == nil)
        #expect(reader.fingerprint == archive.summary?.fingerprint)
        #expect(reader.totals == archive.summary?.totals)
        #expect(try archive.verify(.pipe).fingerprint == archive.summary?.fingerprint)
    }

    @Test func `compresses what can be and stores what can't`() throws {
        let archive = try TestArchive([
            Item("t", text(Self.frameSize)), Item("n", noise(9_000_000)),
        ])
        let frames = try archive.index.frames
        #expect(frames.count == 4)
        #expect(frames[0].compressedSize < frames[0].size / 50)
        // Stored: a header of 9 bytes, 3 for each block of 128 KiB, a checksum of 4. In this piece no entry
        // begins; behind others lie 8 bytes and 4 for each.
        #expect(frames[2].compressedSize == frames[2].size + 9 + 3 * 32 + 4)
        let stored = try TestArchive([Item("t", text(1000))], header: .storedSample)
        #expect(try stored.index.frames.map(\.compressedSize) == [2560 + 9 + 3 + 4 + 12])
        for route in TestArchive.Route.allCases {
            #expect(try stored.items(route) == [Item("t", text(1000))])
        }
    }

    @Test(.enabled(if: Scratch.has("zstd", "tar"), "zstd and tar are not installed"))
    func `writes what zstd and tar read without a warning`() throws {
        let archive = try TestArchive(Self.items + [Item("é", noise(5_000_000, seed: 2))])
        let path = try Scratch.newPath()
        try FileDescriptor.open(path, .creating(permissions: 0o600)).writeAll(archive.bytes.span)
        let file = path.text
        #expect(try Scratch.shell("zstd -t -q \"$0\"", file) == (0, ""))
        let listing = try Scratch.shell(
            "zstd -dc \"$0\" | LC_ALL=C.UTF-8 tar --quoting-style=literal -tf -",
            file
        )
        #expect(listing == (0, "d/\nd/a\nd/b\nd/c\nd/e\nd/l\nh\nz\né\n"))
    }

    @Test func `fails where a file holds less than its entry says`() throws {
        let error = #expect(throws: ArchiveError.self) {
            let short = try Scratch.file(holding: text(100))
            let path = try Scratch.newPath()
            let operation = MigrationOperation(threadCount: 2)
            let writer = try ArchiveWriter(
                writingTo: ArchiveOutput(
                    writing: FileDescriptor.open(path, .creating(permissions: 0o600)),
                    on: operation
                ),
                header: .sample,
                level: 3,
                on: operation
            )
            defer { writer.abandon() }
            try writer.append(.file("f", size: 101), contentFrom: short)
        }
        #expect(error?.code == .sourceChanged)
    }
}
