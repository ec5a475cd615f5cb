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
