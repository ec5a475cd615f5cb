internal import MigrationSystem

/// Reads the tar stream of a migration archive, which must be exactly what the writer writes.
///
/// Each header is read, turned into an entry, and encoded again; the two must be the same bytes.
final class StrictTarReader: EntryReader {
    private let stream: TarStream
    private let encoder = TarEntryEncoder()
    private var headerBytes: [UInt8] = []
    private var expectedBytes: [UInt8] = []
    private var current: ArchiveEntry?
    private var isFinished = false

    private(set) var entryOffset: UInt64 = 0
    var storedSize: UInt64 { current?.contentSize ?? 0 }

    /// How much was read so far.
    private(set) var totals = ArchiveTotals()

    /// What the archive must say of where its entries are, as far as it was read.
    private(set) var entryIndex = EntryIndexBuilder()

    /// Where the header of the first entry begins in the tar stream.
    private(set) var firstOffset: UInt64 = 0

    /// Reads the entries that follow the global header of `stream`, which must say `header`.
    init(reading stream: TarStream, header: ArchiveHeader) throws {
        self.stream = stream
        guard let block = try stream.readBlock() else {
            throw ArchiveError(.truncated, "the archive ends before its header")
        }
        take(block)
        let records = try readRecords(sizedBy: block, limit: GlobalHeader.limit)
        try encoder.encodeExtended(records, typeFlag: TypeFlag.globalHeader, to: &expectedBytes)
        guard try GlobalHeader.parse(records) == header,
            try GlobalHeader.records(of: header) == records, headerBytes == expectedBytes
        else {
            throw ArchiveError(.damaged, "the archive's header can't be read", offset: 0)
        }
        firstOffset = stream.offset
    }

    func next() throws -> ArchiveEntry? {
        if isFinished { return nil }
        if current != nil { try skipContent() }
        let offset = stream.offset
        headerBytes.removeAll(keepingCapacity: true)
        guard var block = try stream.readBlock() else {
            throw ArchiveError(.truncated, "the tar stream has no end mark", offset: offset)
        }
        if block.isZero {
            try finish(at: offset)
            return nil
        }
        take(block)
        var records = PaxRecords()
        if block[UstarBlock.Field.typeFlag] == TypeFlag.extendedHeader {
            records = try readRecords(sizedBy: block, limit: TarFormat.recordLimit)
            guard let next = try stream.readBlock() else {
                throw ArchiveError(.truncated, "the tar stream ends in a header", offset: offset)
            }
            take(next)
            block = next
        }
        let entry = try makeEntry(block, records, at: offset)
        current = entry
        entryOffset = offset
        totals.count(entry)
        entryIndex.add(entry.path, at: offset)
        return entry
    }

    /// Goes on with the entry whose header begins at `offset` of the tar stream.
    ///
    /// The totals and the index are then no longer those of the archive.
    func seek(to offset: UInt64) throws {
        current = nil
        isFinished = false
        guard try stream.seek(to: offset) else {
            throw ArchiveError(.inputFailed, "the archive can only be read in order")
        }
    }

    func readContent(_ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        guard let entry = current else { return }
        var position: UInt64 = 0
        try stream.read(entry.contentSize) { piece in
            try body(position, piece)
            position += UInt64(piece.count)
        }
        try skipPadding(of: entry)
        current = nil
    }

    func takeContent() throws -> ContentSlice? {
        guard let entry = current, let slice = try stream.takeSlice(entry.contentSize) else {
            return nil
        }
        try skipPadding(of: entry)
        current = nil
        return slice
    }

    func takeDrops() -> [EntryDrop] { [] }
}

// MARK: - Headers

extension StrictTarReader {
    private func take(_ block: UstarBlock) {
        headerBytes.append(block: block)
    }

    private func readRecords(sizedBy block: UstarBlock, limit: Int) throws -> PaxRecords {
        let offset = stream.offset
        guard block.hasValidChecksum, let size = block.octal(at: UstarBlock.Field.size),
            size <= UInt64(limit)
        else { throw ArchiveError(.damaged, "a header is damaged", offset: offset - 512) }
        let padded = try stream.readBytes(TarFormat.padded(Int(size)))
        headerBytes.append(contentsOf: padded)
        do {
            return try PaxRecords(parsing: [UInt8](padded.prefix(Int(size))))
        } catch {
            throw ArchiveError(
                .damaged,
                "an extended header is damaged: \(error.reason)",
                offset: offset
            )
        }
    }

    private func makeEntry(
        _ block: UstarBlock,
        _ records: PaxRecords,
        at offset: UInt64
    ) throws -> ArchiveEntry {
        guard block.hasValidChecksum else {
            throw ArchiveError(.damaged, "a header's checksum is wrong", offset: offset)
        }
        guard let entry = StrictEntryParser.parse(block, records) else {
            throw ArchiveError(.refused, "a header holds what archives never hold", offset: offset)
        }
        if let violation = StrictEntryParser.violation(of: entry) {
            throw ArchiveError(.refused, violation, entry: entry.path, offset: offset)
        }
        expectedBytes.removeAll(keepingCapacity: true)
        try encoder.encode(entry, to: &expectedBytes)
        let (expected, found) = (expectedBytes, headerBytes)
        guard expected.span.isEqual(to: found.span) else {
            throw ArchiveError(
                .refused,
                "an entry is not written as this format writes it",
                entry: entry.path,
                offset: offset
            )
        }
        return entry
    }
}

// MARK: - Contents and the end

extension StrictTarReader {
    private func skipContent() throws {
        guard let entry = current else { return }
        try stream.skip(entry.contentSize)
        try skipPadding(of: entry)
        current = nil
    }

    private func skipPadding(of entry: ArchiveEntry) throws {
        let padding = TarFormat.padded(entry.contentSize) - entry.contentSize
        let offset = stream.offset
        guard try stream.skipZeros(padding) else {
            throw ArchiveError(
                .refused,
                "bytes hide behind an entry",
                entry: entry.path,
                offset: offset
            )
        }
    }

    private func finish(at offset: UInt64) throws {
        guard let second = try stream.readBlock(), second.isZero else {
            throw ArchiveError(.truncated, "the tar stream has half an end mark", offset: offset)
        }
        guard try stream.isAtEnd() else {
            throw ArchiveError(
                .damaged,
                "bytes follow the end of the tar stream",
                offset: stream.offset
            )
        }
        isFinished = true
    }
}
