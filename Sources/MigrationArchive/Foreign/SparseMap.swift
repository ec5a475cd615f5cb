/// Which parts of a sparse file are stored, as the three forms of GNU tar say it.
struct SparseMap: Equatable {
    struct Extent: Equatable {
        let offset: UInt64
        let count: UInt64
    }

    /// The extents that a file may have.
    static let limit = 1 << 20

    let extents: [Extent]

    /// The bytes of the file as it was.
    let realSize: UInt64

    /// Makes a map; `nil` unless the extents are in order, apart from one another and inside the file.
    init?(extents: [Extent], realSize: UInt64) {
        guard extents.count <= Self.limit, realSize <= UInt64(Int64.max) else { return nil }
        var end: UInt64 = 0
        for extent in extents {
            let (next, overflow) = extent.offset.addingReportingOverflow(extent.count)
            guard !overflow, extent.offset >= end, next <= realSize else { return nil }
            end = next
        }
        self.extents = extents
        self.realSize = realSize
    }

    /// The bytes that are stored.
    var storedSize: UInt64 { extents.reduce(0) { $0 + $1.count } }
}

extension SparseMap {
    /// Reads the numbers of a map in the header, form 0.1: `offset,count,offset,count`.
    static func parseList(_ text: [UInt8]) -> [Extent]? {
        let numbers = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard numbers.count % 2 == 0, numbers.count / 2 <= limit else { return nil }
        var extents: [Extent] = []
        for index in stride(from: 0, to: numbers.count, by: 2) {
            guard let offset = PaxKey.number([UInt8](numbers[index])),
                let count = PaxKey.number([UInt8](numbers[index + 1]))
            else { return nil }
            extents.append(Extent(offset: offset, count: count))
        }
        return extents
    }

    /// Reads a map that stands before the content, form 1.0.
    ///
    /// It is a count, then pairs, a number a line, in whole blocks, which are taken off `stored`; the
    /// result is `nil` where it is malformed.
    static func parseBlocks(from stream: TarStream, stored: inout UInt64) throws -> [Extent]? {
        var lines = LineReader(stream: stream, available: stored)
        guard let count = try lines.next(), count <= UInt64(limit) else { return nil }
        var extents: [Extent] = []
        extents.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let offset = try lines.next(), let size = try lines.next() else { return nil }
            extents.append(Extent(offset: offset, count: size))
        }
        stored = lines.available
        return extents
    }

    private struct LineReader {
        let stream: TarStream
        var available: UInt64
        private var block = UstarBlock()
        private var index = TarFormat.blockSize

        init(stream: TarStream, available: UInt64) {
            self.stream = stream
            self.available = available
        }

        mutating func next() throws -> UInt64? {
            var digits: [UInt8] = []
            while true {
                if index == TarFormat.blockSize {
                    guard available >= UInt64(TarFormat.blockSize),
                        let next = try stream.readBlock()
                    else { return nil }
                    block = next
                    available -= UInt64(TarFormat.blockSize)
                    index = 0
                }
                let byte = block[index]
                index += 1
                if byte == UInt8(ascii: "\n") { return PaxKey.number(digits) }
                digits.append(byte)
                if digits.count > 20 { return nil }
            }
        }
    }
}
