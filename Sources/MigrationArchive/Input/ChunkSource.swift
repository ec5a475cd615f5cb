/// Where a tar stream comes from, in chunks of a few MiB at most.
protocol ChunkSource: AnyObject {
    /// The bytes of the whole stream, where they are known beforehand.
    var streamSize: UInt64? { get }

    /// Returns the next chunk, or `nil` at the end of the stream; the chunk belongs to the caller.
    func nextChunk() throws -> FrameBuffer?

    /// Takes back a chunk that is used up, to fill it again; any thread may give it back.
    func recycle(_ chunk: FrameBuffer)

    /// Leaves out at most `count` bytes of the stream after the last chunk, where that saves work;
    /// returns how many were left out.
    func skip(_ count: UInt64) -> UInt64

    /// Goes on with the chunk that holds the byte at `offset` of the stream, wherever that is; returns
    /// where the chunk begins, or `nil` where the source can only be read in order.
    func seek(to offset: UInt64) -> UInt64?

    /// Ends the stream early and frees what it holds.
    func close()
}

extension ChunkSource {
    var streamSize: UInt64? { nil }
    func skip(_ count: UInt64) -> UInt64 { 0 }
    func seek(to offset: UInt64) -> UInt64? { nil }
    func close() {}
}
