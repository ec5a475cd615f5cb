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

    init(_ block: UstarBlock, _ headers: ForeignHeaders) {
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

    /// Reads the extents; the result is `nil` where they are malformed.
    ///
    /// Blocks of the content that hold the map are taken off `stored`.
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

    /// Appends the pairs in `field`, which end at the first that is blank.
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
