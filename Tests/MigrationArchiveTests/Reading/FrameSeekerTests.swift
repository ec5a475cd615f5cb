import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct FrameSeekerTests {
    private static let size = 2 * FrameFormat.chunkSize

    private static let items = [
        Item("a", noise(size)), Item("b", text(1000)), Item("c", noise(size, seed: 2)),
        Item("d", [7]),
    ]

    @Test func `passes over frames that are not asked for`() throws {
        let archive = try TestArchive(Self.items)
        // Frames that hold nothing but the content of `a` or `c` may hold anything.
        let index = try archive.index
        #expect(index.frames.count == 5)
        var damaged = archive.bytes
        var start = 0
        for (number, frame) in index.frames.enumerated() {
            if [1, 3].contains(number) { damaged[start + 1000] ^= 1 }
            start += Int(frame.compressedSize)
        }
        let reader = try TestArchive(bytes: damaged).reader(.selectiveFile)
        var contents: [[UInt8]] = []
        while let entry = try reader.next() {
            guard entry.contentSize < 2000 else { continue }
            contents.append(try reader.content(of: entry))
        }
        #expect(contents == [text(1000), [7]])
        #expect(throws: ArchiveError.self) {
            try TestArchive(bytes: damaged).items(.selectiveFile)
        }
    }

    @Test func `reads the same entries in part and as a whole`() throws {
        let archive = try TestArchive(Self.items)
        #expect(try archive.items(.selectiveFile) == archive.items(.wholeFile))
        for wanted in Self.items {
            let reader = try archive.reader(.selectiveFile)
            while let entry = try reader.next() {
                guard entry.path == wanted.entry.path else { continue }
                #expect(try reader.content(of: entry) == wanted.content)
            }
        }
    }

    @Test func `checks each frame that it reads against its hash`() throws {
        var bytes = try TestArchive([Item("a", text(10))]).bytes
        bytes[20] ^= 1
        // Whatever the frame says, it is not the one that the index lists.
        #expect(throws: ArchiveError.self) { try TestArchive(bytes: bytes).items(.selectiveFile) }
    }

    @Test func `moves to and fro in a frame and between frames`() throws {
        let content = noise(Self.size)
        let archive = try TestArchive([Item("a", content)])
        let seeker = try archive.seeker
        let stream = TarStream(seeker)
        var whole: [UInt8] = []
        while try !stream.isAtEnd() { whole += try stream.readBytes(TarFormat.blockSize) }
        for offset in [0, 5_000_000, 100, 700_000, 699_488, 4_194_304, 8_000_000, 4_194_303] {
            let target = offset / TarFormat.blockSize * TarFormat.blockSize
            #expect(try stream.seek(to: UInt64(target)))
            let found = try stream.readBytes(3 * TarFormat.blockSize)
            #expect(found == [UInt8](whole[target..<target + 3 * TarFormat.blockSize]))
        }
    }

    /// What stands behind a piece that was asked for is not even decompressed.
    @Test func `reads of a frame only what is asked for`() throws {
        let seeker = try TestArchive([Item("a", text(3_000_000))]).seeker
        let first = try #require(try seeker.nextChunk())
        #expect(first.count < 1_000_000)
        #expect(seeker.skip(1_000_000) == 0)
        #expect(seeker.skip(4_000_000) > 2_000_000)
        #expect(try seeker.nextChunk() == nil)
    }
}

extension TestArchive {
    fileprivate var seeker: FrameSeeker {
        get throws { try FrameSeeker(reading: input(.selectiveFile), index: index) }
    }
}
