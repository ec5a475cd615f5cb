internal import Synchronization

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
