internal import Synchronization

/// Room for one frame, compressed or not, that goes from stage to stage and is used again.
///
/// Safe because one stage owns a buffer at a time: it is handed on under a lock, never shared.
final class FrameBuffer: @unchecked Sendable {
    /// The bytes, of which the first `count` mean something; the rest take no memory until written.
    var bytes = unsafe [UInt8](unsafeUninitializedCapacity: FrameFormat.largestCompressedSize) {
        _,
        count in count = FrameFormat.largestCompressedSize
    }
    var count = 0

    /// Bytes of the tar stream that still fit.
    var free: Int { FrameFormat.chunkSize - count }
}

extension FrameBuffer {
    /// Lends what the buffer holds from `start` on.
    ///
    /// The array itself must not be held by anyone who hands the buffer on: whoever writes into it
    /// next would have to copy it first.
    func withContent<Result, Failure: Error>(
        from start: Int = 0,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let range = start..<count
        return try unsafe bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(unsafe bytes.span.extracting(range))
        }
    }

    /// Copies `value` to `position`; returns the place behind it.
    func put(_ value: Span<UInt8>, at position: Int) -> Int {
        precondition(position + value.count <= bytes.count)
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe value.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[position...])
                    .copyMemory(from: source)
            }
        }
        return position + value.count
    }
}

/// Room for a chunk that was used up, which the next chunk takes instead of new memory.
struct SpareBuffer: ~Copyable {
    private let buffer = Mutex<FrameBuffer?>(nil)

    /// Hands out the buffer that is kept, or a new one; either holds nothing.
    borrowing func take() -> FrameBuffer {
        let taken = buffer.withLock { $0.take() } ?? FrameBuffer()
        taken.count = 0
        return taken
    }

    /// Keeps `used` for the next chunk; any thread may give it back.
    borrowing func keep(_ used: FrameBuffer) {
        buffer.withLock { $0 = used }
    }
}
