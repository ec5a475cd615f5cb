internal import MigrationSystem

/// Reads only the frames of an archive file that are asked for, each checked against its hash.
///
/// A frame is decompressed piece by piece, and no further than needed.
final class FrameSeeker: ChunkSource {
    private let input: ArchiveInput
    private let index: ArchiveIndex
    private var decompressor: FrameDecompressor
    private let compressed = FrameBuffer()
    private let spare = FrameBufferPool()

    /// The frame to be read next, and where it begins in the archive.
    private var next = 0
    private var nextOffset: UInt64 = 0

    /// Where in the tar stream the next piece begins, and the bytes from there to the frame's end.
    private var position: UInt64 = 0
    private var restOfFrame = 0

    private static let pieceSize = 128 * 1024

    init(reading input: ArchiveInput, index: ArchiveIndex) throws(ArchiveError) {
        self.input = input
        self.index = index
        decompressor = try FrameDecompressor.make()
    }

    func nextChunk() throws -> FrameBuffer? {
        try input.cancellation.check()
        if restOfFrame == 0 {
            guard next < index.frames.count else { return nil }
            try readFrame()
        }
        let piece = spare.take()
        let count = min(Self.pieceSize, restOfFrame)
        try decompressor.decompress(
            compressed,
            into: piece,
            count: count,
            isLast: count == restOfFrame
        )
        position += UInt64(count)
        restOfFrame -= count
        return piece
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.keep(chunk)
    }

    func skip(_ count: UInt64) -> UInt64 {
        guard count >= UInt64(restOfFrame) else { return 0 }
        let start = position
        position += UInt64(restOfFrame)
        restOfFrame = 0
        while next < index.frames.count,
            count - (position - start) >= UInt64(index.frames[next].size)
        {
            position += UInt64(index.frames[next].size)
            passFrame()
        }
        return position - start
    }

    func seek(to offset: UInt64) -> UInt64? {
        if offset < position { (next, nextOffset, position, restOfFrame) = (0, 0, 0, 0) }
        _ = skip(offset - position)
        return position
    }

    private func readFrame() throws {
        let frame = index.frames[next]
        compressed.count = Int(frame.compressedSize)
        try input.readExactly(at: nextOffset, into: &compressed.bytes, count: compressed.count)
        guard SHA256Digest.hash(of: compressed)[...] == index.digest(of: next) else {
            throw ArchiveError(.damaged, "frame \(next) is not the one that was written")
        }
        decompressor.begin()
        restOfFrame = Int(frame.size)
        passFrame()
    }

    private func passFrame() {
        nextOffset += UInt64(index.frames[next].compressedSize)
        next += 1
    }
}
