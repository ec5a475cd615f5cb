internal import MigrationSystem

/// A tar stream that is not compressed.
final class PlainTarSource: ChunkSource {
    private static let chunkSize = 256 * 1024
    private let input: ArchiveInput
    private let spare = FrameBufferPool()

    init(reading input: ArchiveInput) {
        self.input = input
    }

    var streamSize: UInt64? { input.size }

    func nextChunk() throws -> FrameBuffer? {
        let chunk = spare.take()
        chunk.count = try input.read(into: &chunk.bytes, from: 0, count: Self.chunkSize)
        return chunk.count == 0 ? nil : chunk
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.keep(chunk)
    }
}
