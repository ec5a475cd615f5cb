import Glibc
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct PieceReaderTests {
    private static let size = 2 * FrameFormat.chunkSize

    private static let items = [
        Item("a", noise(size)), Item("b", text(1000)), Item("c", noise(size, seed: 2)),
        Item("d", [7]),
    ]

    @Test func `passes over frames that are not asked for`() throws {
        let archive = try TestArchive(Self.items)
        // Frames that hold nothing but the content of `a` or `c` may hold anything.
        let places = try archive.framePlaces
        #expect(places.count == 5)
        var damaged = archive.bytes
        for number in [1, 3] { damaged[places[number].lowerBound + 1000] ^= 1 }
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

    @Test func `checks each piece that it reads against its hash`() throws {
        let archive = try TestArchive([Item("a", text(10))], header: .storedSample)
        let other = try TestArchive([Item("a", noise(10))], header: .storedSample)
        let (header, frames, end) = try archive.parts
        let others = try other.parts.frames
        #expect(frames[0].count == others[0].count)
        // The frame is sound, but it is not the one whose content the index has the hash of.
        let bytes = header + others[0] + end
        let error = #expect(throws: ArchiveError.self) {
            try TestArchive(bytes: bytes).reader(.selectiveFile).next()
        }
        #expect(error?.message == "piece 0 is not the one that was written")
    }

    @Test(arguments: [nil, 1, 2], [2, 3])
    func `doesn't wait for a piece of a pipe that nobody needs`(
        damaged: Int?,
        threadCount: Int
    ) throws {
        // A reader looks 128 KiB ahead for the header.
        let content = noise(200_000) + [UInt8](repeating: 0, count: 17_000_000)
        let archive = try TestArchive([Item("a", content)])
        let places = try archive.framePlaces
        // The pipe stalls within the piece after the damaged one.
        var bytes = [UInt8](archive.bytes[..<(places[(damaged ?? 0) + 1].lowerBound + 8)])
        if let damaged { bytes[places[damaged].upperBound - 1] ^= 1 }
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (start, end) = (ends[0], ends[1])
        // F_SETPIPE_SZ, which the C library's Swift module hides.
        try #require(fcntl(end, 1031, 1 << 20) >= bytes.count)
        try #require(write(end, bytes, bytes.count) == bytes.count)
        let state = Monitor((hasRead: false, isLate: false))
        try SystemThread.start(named: "end of pipe") {
            // Only a reader that waits for the rest takes that long.
            let isInTime = state.wait(atMost: 10) { $0.hasRead }
            state.withLock { $0.isLate = !isInTime }
            close(end)
        }
        let input = try ArchiveInput(
            reading: FileDescriptor(adopting: start),
            on: MigrationOperation(threadCount: threadCount)
        )
        try readAll(of: input, isDamaged: damaged != nil)
        let isLate = state.withLock { state in
            state.hasRead = true
            return state.isLate
        }
        #expect(!isLate)
    }

    private func readAll(of input: ArchiveInput, isDamaged: Bool) throws {
        guard isDamaged else {
            _ = try ArchiveReader(input, access: .whole).next()
            // Meanwhile another thread waits for the next piece.
            usleep(50_000)
            return
        }
        let error = #expect(throws: ArchiveError.self) {
            try ArchiveVerifier.verify(input, scope: .hashes) { _ in }
        }
        #expect(error?.code == .damaged)
    }

    @Test func `moves to and fro in a frame and between frames`() throws {
        let content = noise(Self.size)
        let archive = try TestArchive([Item("a", content)])
        let stream = TarStream(UnmarkedSource(try archive.pieces))
        var whole: [UInt8] = []
        while try !stream.isAtEnd() { whole += try stream.readBytes(TarFormat.blockSize) }
        for offset in [0, 5_000_000, 100, 700_000, 699_488, 4_194_304, 8_000_000, 4_194_303] {
            let target = offset / TarFormat.blockSize * TarFormat.blockSize
            #expect(try stream.seek(to: UInt64(target)))
            let found = try stream.readBytes(3 * TarFormat.blockSize)
            #expect(found == [UInt8](whole[target..<target + 3 * TarFormat.blockSize]))
        }
    }
}

/// The chunks of a source without the marks of entries, which a reader of bytes doesn't take.
private final class UnmarkedSource: ChunkSource {
    private let source: any ChunkSource

    init(_ source: any ChunkSource) { self.source = source }

    func nextChunk() throws -> FrameBuffer? {
        let chunk = try source.nextChunk()
        chunk?.marks = nil
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) { source.recycle(chunk) }

    func seek(to offset: UInt64) -> UInt64? { source.seek(to: offset) }
}

extension TestArchive {
    fileprivate var pieces: PieceReader {
        get throws {
            try PieceReader(
                reading: input(.selectiveFile),
                after: .sample,
                index: index,
                plan: .selective
            )
        }
    }
}
