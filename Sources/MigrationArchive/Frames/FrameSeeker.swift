internal import MigrationSystem

/// Reads only the frames of an archive file that hold what is asked for, each checked against its hash.
final class FrameSeeker: ChunkSource {
    private let input: ArchiveInput
    private let index: ArchiveIndex
    private var decompressor: FrameDecompressor
    private let compressed = FrameBuffer()
    private let spare = SpareBuffer()
    private var next = 0
    private var offset: UInt64 = 0

    init(reading input: ArchiveInput, index: ArchiveIndex) throws(ArchiveError) {
        self.input = input
        self.index = index
        decompressor = try FrameDecompressor.make()
    }

    func nextChunk() throws -> FrameBuffer? {
        try input.cancellation.check()
        guard next < index.frames.count else { return nil }
        let frame = index.frames[next]
        compressed.count = Int(frame.compressedSize)
        try input.readExactly(at: offset, into: &compressed.bytes, count: compressed.count)
        guard SHA256Digest.hash(of: compressed)[...] == index.digest(of: next) else {
            throw ArchiveError(.damaged, "frame \(next) is not the one that was written")
        }
        let content = spare.take()
        try decompressor.decompress(compressed, into: content, contentSize: Int(frame.size))
        passFrame()
        return content
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.keep(chunk)
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
        (next, self.offset) = (0, 0)
        return skip(offset)
    }

    private func passFrame() {
        offset += UInt64(index.frames[next].compressedSize)
        next += 1
    }
}
