@testable internal import MigrationArchive

/// A tar stream in memory, in chunks of an odd size so that everything lies across two of them.
final class MemorySource: ChunkSource {
    // Safe because libFuzzer calls a target on one thread only. Allocating memory for every input
    // would take most of the time.
    nonisolated(unsafe) private static var idle: [FrameBuffer] = []

    private var rest: ArraySlice<UInt8>
    private let chunkSize: Int

    init(_ bytes: [UInt8], chunkSize: Int = 4093) {
        rest = bytes[...]
        self.chunkSize = chunkSize
    }

    func nextChunk() throws -> FrameBuffer? {
        if rest.isEmpty { return nil }
        let chunk = Self.idle.popLast() ?? FrameBuffer()
        chunk.count = 0
        chunk.append([UInt8](rest.prefix(chunkSize)).span)
        rest = rest.dropFirst(chunkSize)
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) { Self.idle.append(chunk) }
}
