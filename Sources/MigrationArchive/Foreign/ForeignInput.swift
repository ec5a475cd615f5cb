internal import MigrationSystem

/// A tar stream that is not compressed, as it comes.
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

/// Bytes of an archive that are read but not decompressed yet.
struct PendingInput {
    private let input: ArchiveInput
    private var bytes = [UInt8](repeating: 0, count: 256 * 1024)
    private var start = 0
    private var end = 0

    init(reading input: ArchiveInput) {
        self.input = input
    }

    /// The number of bytes that are pending.
    var count: Int { end - start }

    /// The byte at `offset` from the first one.
    subscript(offset: Int) -> UInt8 { bytes[start + offset] }

    /// The number at `offset` from the first byte.
    func littleEndian(at offset: Int) -> UInt32 {
        bytes.littleEndian(at: start + offset)
    }

    /// The first `count` bytes.
    func prefix(_ count: Int) -> ArraySlice<UInt8> { bytes[start..<start + count] }

    /// Passes everything that is pending to `body`.
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.span.extracting(start..<end))
    }

    /// Drops the first `count` bytes, which are used up.
    mutating func removeFirst(_ count: Int) {
        start += count
    }

    /// Makes at least `wanted` bytes pending; returns `false` where the input ends before them.
    mutating func fill(_ wanted: Int) throws -> Bool {
        while count < wanted {
            if start > 0 {
                bytes.replaceSubrange(0..<count, with: Array(bytes[start..<end]))
                end -= start
                start = 0
            }
            let read = try input.read(into: &bytes, from: end, count: bytes.count - end)
            if read == 0 { return false }
            end += read
        }
        return true
    }
}
