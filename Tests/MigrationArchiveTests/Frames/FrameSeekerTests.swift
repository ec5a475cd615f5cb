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
}
