/// A chunk of a tar stream that goes back to its source when the last holder lets go of it.
///
/// Safe because its bytes don't change while somebody holds it, and sources take chunks back from
/// any thread.
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

/// The content of an entry where it lies in memory, which stays as it is while this is held.
struct ContentSlice: Sendable {
    let chunk: StreamChunk
    let range: Range<Int>

    /// Passes the content to `body`.
    func withSpan<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        let bytes = chunk.buffer.bytes
        try body(bytes.span.extracting(range))
    }
}
