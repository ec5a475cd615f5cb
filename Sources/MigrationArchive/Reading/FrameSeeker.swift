internal import MigrationSystem

/// Reads only the frames of an archive file that are asked for, each checked against its hash.
final class FrameSeeker: ChunkSource {
    private let index: ArchiveIndex
    private let opener: PieceOpener
    private let contents: FrameBufferPool

    /// The frame to be read next, and where it begins in the archive.
    private(set) var next = 0
    private var nextOffset: UInt64
    /// Where the first one begins.
    private let start: UInt64

    /// Reads pieces into `contents`, to which its user gives them back.
    init(
        reading input: ArchiveInput,
        after header: HeaderFrame,
        index: ArchiveIndex,
        into contents: FrameBufferPool = FrameBufferPool()
    ) throws(ArchiveError) {
        self.index = index
        self.contents = contents
        start = UInt64(header.bytes.count)
        nextOffset = start
        opener = try PieceOpener(reading: input, index: index)
    }

    func nextChunk() throws -> FrameBuffer? {
        guard next < index.frames.count else { return nil }
        let content = contents.take()
        try opener.open(next, at: nextOffset, into: content)
        passFrame()
        return content
    }

    func recycle(_ chunk: FrameBuffer) {
        contents.keep(chunk)
    }

    func skip(_ count: UInt64) -> UInt64 {
        var skipped: UInt64 = 0
        while next < index.frames.count, count - skipped >= UInt64(index.frames[next].size) {
            skipped += UInt64(index.frames[next].size)
            passFrame()
        }
        return skipped
    }

    func seek(to offset: UInt64) -> UInt64? {
        let target = Int(offset / UInt64(FrameFormat.chunkSize))
        if target < next { (next, nextOffset) = (0, start) }
        while next < min(target, index.frames.count) { passFrame() }
        return UInt64(next) * UInt64(FrameFormat.chunkSize)
    }

    var archivePosition: UInt64? { nextOffset }

    /// Skips the next frame.
    func passFrame() {
        nextOffset += UInt64(index.frames[next].compressedSize)
        next += 1
    }
}

/// Opens pieces of an archive file, each checked against its hash; one thread at a time may use it.
final class PieceOpener {
    private let input: ArchiveInput
    private let index: ArchiveIndex
    private var decompressor: FrameDecompressor
    private let compressed = FrameBuffer()

    init(reading input: ArchiveInput, index: ArchiveIndex) throws(ArchiveError) {
        self.input = input
        self.index = index
        decompressor = try FrameDecompressor.make()
    }

    /// Opens piece `number`, which lies at `offset` in the archive, into `content`.
    func open(_ number: Int, at offset: UInt64, into content: FrameBuffer) throws {
        try input.operation.check()
        let frame = index.frames[number]
        compressed.count = Int(frame.compressedSize)
        try input.readExactly(at: offset, into: &compressed.bytes, count: compressed.count)
        let size = Int(frame.size)
        let digest = try decompressor.open(compressed, into: content, contentSize: size)
        guard digest[...] == index.digest(of: number) else {
            throw ArchiveError.damagedPiece(number)
        }
    }
}
