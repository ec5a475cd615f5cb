import MigrationSystem

@testable import MigrationArchive

/// A tar stream in memory, cut into chunks of `chunkSize` bytes.
final class MemorySource: ChunkSource {
    private let bytes: [UInt8]
    private let chunkSize: Int
    private let buffer: FrameBuffer
    private var position = 0

    /// Hands out `bytes` in `buffer`, which saves making one for each of many streams.
    init(_ bytes: [UInt8], chunkSize: Int = 1 << 20, buffer: FrameBuffer = FrameBuffer()) {
        self.bytes = bytes
        self.chunkSize = chunkSize
        self.buffer = buffer
    }

    func nextChunk() throws -> FrameBuffer? {
        let count = min(chunkSize, bytes.count - position)
        guard count > 0 else { return nil }
        let bytes = bytes
        let span = bytes.span
        buffer.count = 0
        buffer.append(span.extracting(position..<position + count))
        position += count
        return buffer
    }

    func recycle(_ chunk: FrameBuffer) {}
}
