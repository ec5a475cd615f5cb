internal import MigrationSystem

/// The headers in a part of a stream, found in one pass, whatever entry's content they are in.
///
/// If entries cover each other, the content of each holds the headers of all that follow. Searching
/// each entry's content again would take quadratic time.
package struct HeaderIndex {
    /// A header, in blocks from the start of the part.
    private struct Header {
        let offset: UInt32
        /// Where its entry's content begins.
        let content: UInt32
        /// Where its entry ends.
        let end: UInt32
        /// The end of the chain of entries that begins with this one; in a chain, each entry begins
        /// where the one before it ends, or earlier.
        var chainEnd: UInt32
    }

    private static let blockSize = BackupReader.blockSize

    private var start: UInt64 = 0
    private var end: UInt64 = 0
    private var headers: [Header] = []

    /// Makes an empty index.
    package init() {}

    /// Looks for the headers between `offset` and `limit` with `find`, which returns where the
    /// content of a header's entry begins and ends.
    package mutating func cover(
        from offset: UInt64,
        to limit: UInt64,
        of size: UInt64,
        _ find: (UInt64) throws -> (content: UInt64, end: UInt64)?
    ) throws {
        if !isOnWay(offset) { (start, end, headers) = (offset, offset, []) }
        guard end < limit else { return }
        // If the limit grows again and again, everything is searched only a few times.
        let goal = max(limit, min(size, end + (end - start)))
        while end < goal, end + Self.blockSize <= size {
            guard let found = try find(end) else {
                end += Self.blockSize
                continue
            }
            headers.append(
                Header(
                    offset: block(end),
                    content: block(found.content),
                    end: block(found.end),
                    chainEnd: 0
                )
            )
            end = found.content
        }
        linkChains()
    }

    /// The first header from `offset` on.
    package func index(from offset: UInt64) -> Int {
        let block = block(offset)
        return headers.partitionPoint { $0.offset >= block }
    }

    /// Where a header is; `nil` after the last.
    package func offset(at index: Int) -> UInt64? {
        index < headers.count ? start + UInt64(headers[index].offset) * Self.blockSize : nil
    }

    /// The end of the chain of entries that begins at `index`.
    package func chainEnd(at index: Int) -> UInt64 {
        start + UInt64(headers[index].chainEnd) * Self.blockSize
    }

    private func block(_ offset: UInt64) -> UInt32 {
        UInt32(clamping: (offset - start + Self.blockSize - 1) / Self.blockSize)
    }

    /// Whether the walk checked the block at `offset`, or would check it next.
    private func isOnWay(_ offset: UInt64) -> Bool {
        guard (start...end).contains(offset), (offset - start).isMultiple(of: Self.blockSize) else {
            return false
        }
        let next = index(from: offset)
        return next == 0 || headers[next - 1].content <= block(offset)
    }

    /// Finds the end of every chain, from the last header to the first.
    private mutating func linkChains() {
        // The first header after each chain; headers of the chain itself are skipped.
        var nexts = [Int](repeating: 0, count: headers.count)
        for index in headers.indices.reversed() {
            var (end, next) = (headers[index].end, index + 1)
            while next < headers.count, headers[next].offset <= end {
                end = max(end, headers[next].chainEnd)
                next = nexts[next]
            }
            headers[index].chainEnd = end
            nexts[index] = next
        }
    }
}
