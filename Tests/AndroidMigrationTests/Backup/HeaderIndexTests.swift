import AndroidMigration
import TestSupport
import Testing

/// The headers inside entries, compared with the results of a walk through each entry's own
/// content.
struct HeaderIndexTests {
    private static let block: UInt64 = 512

    /// The headers of a stream of blocks, by their offsets.
    private struct Stream {
        let size: UInt64
        var headers: [UInt64: (content: UInt64, end: UInt64)] = [:]

        init(_ source: inout SeededGenerator) {
            let blocks = UInt64.random(in: 1...60, using: &source)
            size = blocks * HeaderIndexTests.block
            for number in 0..<blocks where Int.random(in: 0..<3, using: &source) == 0 {
                let content = number + UInt64.random(in: 1...2, using: &source)
                let end = content + UInt64.random(in: 0...8, using: &source)
                headers[number * 512] = (content * 512, end * 512)
            }
        }

        /// Where the chain ends that begins with the header at `offset`.
        func chainEnd(from offset: UInt64) -> UInt64 {
            var (offset, end) = (offset, offset)
            while offset <= end, offset < size {
                guard let header = headers[offset] else {
                    offset += 512
                    continue
                }
                end = max(end, header.end)
                offset = header.content
            }
            return end
        }

        /// The headers from `offset` to `limit` that are in no other one.
        func headers(from offset: UInt64, to limit: UInt64) -> [UInt64] {
            var (offset, found) = (offset, [UInt64]())
            while offset < limit, offset < size {
                if headers[offset] != nil { found.append(offset) }
                offset = headers[offset]?.content ?? offset + 512
            }
            return found
        }
    }

    @Test func `are those that each entry's own content has`() throws {
        var source = SeededGenerator(seed: 37)
        for _ in 0..<400 {
            let stream = Stream(&source)
            var index = HeaderIndex()
            for _ in 0..<20 {
                let offset = UInt64.random(in: 0..<stream.size / 512, using: &source) * 512
                let limit = UInt64.random(in: offset...stream.size, using: &source) / 512 * 512
                try index.cover(from: offset, to: limit, of: stream.size) { stream.headers[$0] }
                var (number, found) = (index.index(from: offset), [UInt64]())
                while let start = index.offset(at: number), start < limit {
                    found.append(start)
                    let end = stream.chainEnd(from: start)
                    // The index doesn't look at everything behind the limit.
                    let known = index.chainEnd(at: number)
                    #expect(end < limit ? known == end : known >= limit)
                    number += 1
                }
                #expect(found == stream.headers(from: offset, to: limit))
            }
        }
    }

    @Test func `looks at a block once for entries that cover each other`() throws {
        let count: UInt64 = 2_000
        let size = count * 512
        var (index, looks) = (HeaderIndex(), 0)
        for number in 0..<count {
            try index.cover(from: number * 512, to: size, of: size) {
                looks += 1
                return ($0 + 512, size)
            }
        }
        #expect(looks == Int(count))
    }
}
