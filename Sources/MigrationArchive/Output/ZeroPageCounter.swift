/// Counts the whole pages of zeros in a file's content, piece by piece as it is read.
///
/// Pages that lie across two pieces count as data, so the count depends on where pieces end: a
/// reader that holds fewer of them as holes needs no more room than was counted.
struct ZeroPageCounter {
    static let pageSize = 4096

    private(set) var bytes: UInt64 = 0
    private var offset = 0

    /// Looks at what `chunk` holds from `start` on.
    mutating func add(_ chunk: FrameBuffer, from start: Int) {
        let count = chunk.count - start
        let toPage = (Self.pageSize - offset % Self.pageSize) % Self.pageSize
        let page = start + toPage
        guard page + Self.pageSize <= chunk.count else {
            offset += count
            return
        }
        chunk.withContent(from: page) { content in
            for start in stride(from: 0, through: content.count - Self.pageSize, by: Self.pageSize)
            where Self.isZero(content.extracting(start..<start + Self.pageSize)) {
                bytes += UInt64(Self.pageSize)
            }
        }
        offset += count
    }

    /// Whether every byte of `span` is zero.
    static func isZero(_ span: Span<UInt8>) -> Bool {
        guard !span.isEmpty, span[0] == 0 else { return span.isEmpty }
        // Without an early end, so that the loop can be done with vectors.
        var bits: UInt8 = 0
        for index in span.indices { bits |= span[index] }
        return bits == 0
    }
}
