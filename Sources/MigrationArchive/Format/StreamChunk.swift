/// The source of a tar stream, in chunks of a few MiB at most.
protocol ChunkSource: AnyObject {
    /// The size of the whole stream, if it is known beforehand.
    var streamSize: UInt64? { get }

    /// Returns the next chunk, or `nil` at the end of the stream; the chunk belongs to the caller.
    func nextChunk() throws -> FrameBuffer?

    /// Takes back a used chunk to reuse it; any thread may return it.
    func recycle(_ chunk: FrameBuffer)

    /// Continues with the chunk that holds the byte at `offset` of the stream, before or after the last
    /// one; returns where the chunk begins, or `nil` if the source can only be read in order.
    func seek(to offset: UInt64) -> UInt64?

    /// Ends the stream early and frees its resources.
    func close()
}

extension ChunkSource {
    var streamSize: UInt64? { nil }
    func seek(to offset: UInt64) -> UInt64? { nil }
    func close() {}
}

/// A chunk of a tar stream that returns to its source when it is released for the last time.
///
/// Safe because its bytes don't change while it is held, and sources take chunks back from any
/// thread.
final class StreamChunk: @unchecked Sendable {
    private let source: any ChunkSource
    let buffer: FrameBuffer

    init(_ buffer: FrameBuffer, from source: any ChunkSource) {
        self.buffer = buffer
        self.source = source
    }

    deinit {
        source.recycle(buffer)
    }
}

/// The content of an entry in memory, which stays valid while this is held.
package struct ContentSlice: Sendable {
    let chunk: StreamChunk
    let range: Range<Int>

    var count: Int { range.count }
}
