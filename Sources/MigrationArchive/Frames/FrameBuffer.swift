/// Room for one frame, compressed or not, that goes from stage to stage and is used again.
///
/// Safe because one stage owns a buffer at a time: it is handed on under a lock, never shared.
final class FrameBuffer: @unchecked Sendable {
    /// The bytes, of which the first `count` mean something; the rest take no memory until written.
    var bytes = unsafe [UInt8](unsafeUninitializedCapacity: FrameFormat.largestCompressedSize) {
        _, count in count = FrameFormat.largestCompressedSize
    }
    var count = 0

    /// Bytes of the tar stream that still fit.
    var free: Int { FrameFormat.chunkSize - count }
}
