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
