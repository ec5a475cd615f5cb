internal import MigrationSystem

/// Reads the headers of another program's tar file, up to that of each entry.
struct ForeignHeaderReader {
    /// An entry's own header, and the values from the headers before it.
    struct Header {
        let block: UstarBlock
        let headers: ForeignHeaders
        let offset: UInt64
    }

    /// The modification time in a global header.
    enum GlobalTime {
        case time(FileTime)
        case malformed
    }

    /// The bytes that tar writes at once; the end of the last record may hold old bytes.
    private static let recordSize: UInt64 = 10_240

    private let stream: TarStream

    /// The modification time that a global header sets for every entry, decoded once: it may be long.
    private(set) var globalTime: GlobalTime?

    /// The attributes that a global header sets for every entry, which are reported and not
    /// restored; only those of the first such header before an entry.
    private var globalAttributes: [[UInt8]] = []

    /// Whether the stream ended after an entry, without the zeros of an end mark.
    private(set) var lacksEndMark = false

    /// Whether bytes follow the end mark that belong to no entry.
    private(set) var hasTrailer = false

    init(reading stream: TarStream) {
        self.stream = stream
    }

    /// Reads up to the next header of an entry; `nil` at the end of the stream.
    mutating func next() throws -> Header? {
        var headers = ForeignHeaders()
        while true {
            let offset = stream.offset
            guard let block = try stream.readBlock() else {
                try finishWithoutEndMark(behind: headers)
                return nil
            }
            if block.isZero {
                guard headers.isEmpty else {
                    throw ArchiveError(.damaged, "no entry follows a header", offset: offset)
                }
                try finish(at: offset)
                return nil
            }
            guard block.hasValidChecksum else {
                throw ArchiveError(.damaged, "a header's checksum is wrong", offset: offset)
            }
            guard try take(block, into: &headers, at: offset) else {
                return Header(block: block, headers: headers, offset: offset)
            }
        }
    }

    /// Accepts the end of the stream after a complete entry as the end of the tar file, as every
    /// tar does.
    private mutating func finishWithoutEndMark(behind headers: ForeignHeaders) throws {
        let offset = stream.offset
        guard offset > 0 else {
            throw ArchiveError(.truncated, "the tar stream is empty", offset: offset)
        }
        guard headers.isEmpty else {
            throw ArchiveError(.truncated, "the tar stream ends after a header", offset: offset)
        }
        lacksEndMark = true
    }

    /// Reads the blocks after the first zero block: zeros, or bytes that some tars leave in their last record and
    /// others append.
    ///
    /// A header there belongs to another tar file, or shows that the zeros replace an entry. It is
    /// a leftover only after a complete end mark, in the last record of the stream.
    private mutating func finish(at offset: UInt64) throws {
        guard let second = try stream.readBlock(padding: true) else { return }
        let recordEnd = (offset / Self.recordSize + 1) * Self.recordSize
        var hasHeader = false
        var next: UstarBlock? = second
        while let block = next {
            if !block.isZero {
                hasTrailer = true
                hasHeader = hasHeader || block.hasValidChecksum
            }
            next = try stream.readBlock(padding: true)
        }
        lacksEndMark = !second.isZero
        if hasHeader, lacksEndMark || stream.offset != recordEnd {
            let message = "another header follows the end of the tar file"
            throw ArchiveError(.damaged, message, offset: offset)
        }
    }
}

// MARK: - Headers that say something of others

extension ForeignHeaderReader {
    /// Handles a header that only describes the next one; returns `false` for an entry's own header.
    private mutating func take(
        _ block: UstarBlock,
        into headers: inout ForeignHeaders,
        at offset: UInt64
    ) throws -> Bool {
        switch block[UstarBlock.Field.typeFlag] {
        case TypeFlag.extendedHeader, TypeFlag.solarisExtendedHeader:
            let bytes = try readHeaderBody(block, after: headers.byteCount, at: offset)
            try takeRecords(bytes, into: &headers, at: offset)
        case TypeFlag.globalHeader:
            try takeGlobal(try readHeaderBody(block, after: 0, at: offset), at: offset)
        case TypeFlag.gnuLongName:
            headers.take(
                longName: try readHeaderBody(block, after: headers.byteCount, at: offset)
            )
        case TypeFlag.gnuLongLink:
            headers.take(
                longLink: try readHeaderBody(block, after: headers.byteCount, at: offset)
            )
        case TypeFlag.gnuVolumeLabel:
            // A label doesn't describe entries.
            _ = try readHeaderBody(block, after: 0, at: offset)
        default: return false
        }
        return true
    }

    private func readHeaderBody(
        _ block: UstarBlock,
        after taken: Int,
        at offset: UInt64
    ) throws -> [UInt8] {
        guard let size = block.number(at: UstarBlock.Field.size), size >= 0,
            size <= TarFormat.recordLimit - taken
        else {
            throw ArchiveError(.damaged, "a header claims an absurd size", offset: offset)
        }
        let bytes = try stream.readBytes(Int(size))
        try stream.skip(TarFormat.padded(UInt64(size)) - UInt64(size))
        return bytes
    }

    private func takeRecords(
        _ bytes: [UInt8],
        into headers: inout ForeignHeaders,
        at offset: UInt64
    ) throws {
        do {
            let records = try PaxRecords(parsing: bytes)
            guard headers.take(records, byteCount: bytes.count) else {
                throw PaxRecords.Malformation(reason: "a sparse map is malformed")
            }
        } catch {
            let reason = (error as? PaxRecords.Malformation)?.reason ?? "\(error)"
            throw ArchiveError(
                .damaged,
                "an extended header is malformed: \(reason)",
                offset: offset
            )
        }
    }

    /// Takes a global header, which must not hold anything that belongs to a single entry.
    private mutating func takeGlobal(_ bytes: [UInt8], at offset: UInt64) throws {
        var headers = ForeignHeaders()
        try takeRecords(bytes, into: &headers, at: offset)
        for key in ["path", "linkpath", "size", "GNU.sparse.name", "GNU.sparse.map"]
        where headers.value(key) != nil {
            throw ArchiveError(
                .refused,
                "a global header sets '\(key)' for every entry",
                offset: offset
            )
        }
        if headers.isCleared(PaxKey.modificationTime) { globalTime = nil }
        if let text = headers.value(PaxKey.modificationTime) {
            globalTime = PaxTime.decode(text).map { .time($0) } ?? .malformed
        }
        guard globalAttributes.isEmpty else { return }
        globalAttributes = headers.attributes().map(\.name) + headers.unrestoredKeywords()
    }

    /// The attributes that a global header set since this was last asked.
    mutating func takeGlobalAttributes() -> [[UInt8]] {
        defer { globalAttributes = [] }
        return globalAttributes
    }
}
