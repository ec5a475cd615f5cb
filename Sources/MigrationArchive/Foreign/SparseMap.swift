/// Which parts of a sparse file are stored, in any of GNU tar's three forms.
struct SparseMap: Equatable {
    struct Extent: Equatable {
        let offset: UInt64
        let count: UInt64
    }

    /// The extents that a file may have.
    static let limit = 1 << 20

    let extents: [Extent]

    /// The size of the file with its holes.
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

    /// Reads a map that precedes the content, form 1.0.
    ///
    /// It is a count, then pairs, with one number per line, in whole blocks, which are subtracted
    /// from `stored`; the result is `nil` if it is malformed.
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

// MARK: - Reading

/// Finds the map of a sparse file, in whichever of GNU tar's forms it was written.
struct SparseParser {
    enum Form {
        /// In the header itself and blocks that follow it.
        case old
        /// In records of the extended header, forms 0.0 and 0.1.
        case records
        /// Before the content, form 1.0.
        case blocks
    }

    private let block: UstarBlock
    private let headers: ForeignHeaders

    init(block: UstarBlock, headers: ForeignHeaders) {
        self.block = block
        self.headers = headers
    }

    /// The form of the map; `nil` for a file that is not sparse.
    func form() throws(ForeignEntryParser.Problem) -> Form? {
        if block[UstarBlock.Field.typeFlag] == TypeFlag.gnuSparse { return .old }
        if let major = headers.value("GNU.sparse.major") {
            let minor = headers.value("GNU.sparse.minor") ?? [UInt8(ascii: "0")]
            switch (PaxKey.number(major), PaxKey.number(minor)) {
            case (1, 0): return .blocks
            case (0, 0), (0, 1): break
            default: throw ForeignEntryParser.Problem(refused: "a sparse file of an unknown form")
            }
        }
        let hasMap = headers.value("GNU.sparse.map") != nil || headers.sparseExtents != nil
        return hasMap || headers.value("GNU.sparse.size") != nil ? .records : nil
    }

    /// The size of the file with its holes.
    func realSize(_ form: Form) -> UInt64? {
        switch form {
        case .old:
            block.number(at: UstarBlock.Field.gnuRealSize).flatMap { UInt64(exactly: $0) }
        case .records, .blocks:
            (headers.value("GNU.sparse.realsize") ?? headers.value("GNU.sparse.size"))
                .flatMap(PaxKey.number)
        }
    }

    /// Reads the extents; the result is `nil` if they are malformed.
    ///
    /// Blocks of the content that hold the map are subtracted from `stored`.
    func extents(
        _ form: Form,
        from stream: TarStream,
        stored: inout UInt64
    ) throws -> [SparseMap.Extent]? {
        switch form {
        case .old: try oldExtents(from: stream)
        case .blocks: try SparseMap.parseBlocks(from: stream, stored: &stored)
        case .records:
            if let list = headers.value("GNU.sparse.map") {
                SparseMap.parseList(list)
            } else {
                headers.sparseExtents ?? []
            }
        }
    }

    private func oldExtents(from stream: TarStream) throws -> [SparseMap.Extent]? {
        var extents: [SparseMap.Extent] = []
        guard append(from: block, at: UstarBlock.Field.gnuSparseMap, to: &extents) else {
            return nil
        }
        var isExtended = block[UstarBlock.Field.gnuIsExtended] != 0
        // Growing would take up to three times the memory.
        if isExtended { extents.reserveCapacity(SparseMap.limit) }
        while isExtended {
            guard let next = try stream.readBlock(), extents.count < SparseMap.limit,
                append(from: next, at: UstarBlock.Field.gnuSparseExtension, to: &extents)
            else { return nil }
            isExtended = next[UstarBlock.Field.gnuExtensionIsExtended] != 0
        }
        return extents
    }

    /// Appends the pairs in `field`, which end at the first blank one.
    private func append(
        from block: UstarBlock,
        at field: Range<Int>,
        to extents: inout [SparseMap.Extent]
    ) -> Bool {
        for start in stride(from: field.lowerBound, to: field.upperBound, by: 24) {
            if block[start] == 0 { return true }
            guard let offset = block.number(at: start..<start + 12), offset >= 0,
                let count = block.number(at: start + 12..<start + 24), count >= 0
            else { return false }
            extents.append(SparseMap.Extent(offset: UInt64(offset), count: UInt64(count)))
        }
        return true
    }
}
