internal import MigrationSystem

/// Reads the tar stream of a migration archive, which must be exactly as the writer writes it.
///
/// Most entries have a single block, whose fields are checked. Other headers are encoded again and
/// compared. With the table of large files, a piece in which no other entry begins is read only when
/// content in it is.
final class StrictTarReader: EntryReader {
    private let stream: TarStream
    private let table: LargeFileTable?
    /// The extra metadata that the archive holds.
    private let extra: ExtraMetadata
    private let encoder = TarEntryEncoder()
    private var headerBytes: [UInt8] = []
    private var expectedBytes: [UInt8] = []
    private var current: ArchiveEntry?
    /// Whether the current entry is known from the table alone.
    private var isListed = false
    /// Where the next header begins, if the stream up to there is skipped.
    private var pending: UInt64?
    /// The piece in which the last entry begins, and how many begin in it so far.
    private var counted = (piece: -1, entries: 0)
    private var isFinished = false

    private(set) var entryOffset: UInt64 = 0
    /// The current entry's place in its window.
    private(set) var place = WindowPlace.first
    /// The window's paths.
    private var paths = RecentPaths()
    private var isInWindow = true
    var storedSize: UInt64 { current?.contentSize ?? 0 }

    /// The totals so far; bytes of data are counted only if all content is read.
    private(set) var totals = ArchiveTotals()

    /// Whether content is read even if it isn't asked for, so that pages of zeros can be counted.
    private let readsAllContent: Bool

    /// The index of entries that the archive must have, as far as it has been read.
    private(set) var entryIndex = EntryIndexBuilder()

    /// Where the header of the first entry begins in the tar stream.
    let firstOffset: UInt64

    /// Reads the entries of `stream`, which is positioned after the global header.
    init(
        reading stream: TarStream,
        _ table: LargeFileTable? = nil,
        holding extra: ExtraMetadata = [],
        readsAllContent: Bool = false
    ) {
        self.stream = stream
        self.extra = extra
        self.readsAllContent = readsAllContent
        self.table = table
        firstOffset = stream.offset
    }

    func next() throws -> ArchiveEntry? {
        if isFinished { return nil }
        if current != nil { try skipContent() }
        if let file = try listedFile(at: pending ?? stream.offset) { return try take(file) }
        if let target = pending.take() {
            let isCounted = piece(at: target) == counted.piece
            try moveStream(to: target, marksTaken: isCounted ? counted.entries : 0)
        }
        let offset = stream.offset
        guard let (entry, place) = try readEntry(at: offset) else { return nil }
        if try isListed(at: offset) { throw Self.wrongTable(entry, at: offset) }
        return try take(entry, place: place, at: offset)
    }

    /// Makes `entry`, which begins at `offset`, the current one.
    private func take(
        _ entry: ArchiveEntry,
        place: WindowPlace,
        at offset: UInt64
    ) throws -> ArchiveEntry {
        self.place = place
        let piece = piece(at: offset)
        counted = (piece, piece == counted.piece ? counted.entries + 1 : 1)
        try follow(entry, at: offset)
        current = entry
        entryOffset = offset
        totals.count(entry)
        return entry
    }

    /// Reads the headers of the entry at `offset`, the stream's position; `nil` at the end mark.
    private func readEntry(at offset: UInt64) throws -> (ArchiveEntry, WindowPlace)? {
        if let taken = try takePlainEntry() { return taken }
        headerBytes.removeAll(keepingCapacity: true)
        guard var block = try stream.readBlock() else {
            throw ArchiveError(.truncated, "the tar stream has no end mark", offset: offset)
        }
        if block.isZero {
            try finish(at: offset)
            return nil
        }
        let mark = try stream.takeMark()
        take(block)
        var records = PaxRecords()
        if block[UstarBlock.Field.typeFlag] == TypeFlag.extendedHeader {
            records = try readRecords(sizedBy: block)
            guard let next = try stream.readBlock() else {
                throw ArchiveError(.truncated, "the tar stream ends in a header", offset: offset)
            }
            take(next)
            block = next
        }
        let stated = try makeEntry(of: block, records: records, at: offset)
        let completed: ArchiveEntry? = if let mark { mark.completing(stated) } else { stated }
        guard let entry = completed else {
            let message = "a hard link has a time of its own"
            throw ArchiveError(.refused, message, entry: stated.path, offset: offset)
        }
        return (entry, mark?.place ?? .first)
    }

    /// Takes the entry at the cursor, if it has a single, regular header; all others are parsed in
    /// detail.
    private func takePlainEntry() throws -> (ArchiveEntry, WindowPlace)? {
        let extra = extra
        return try stream.takeBlock { block, mark in
            guard let entry = StrictEntryParser.parse(block, mark, extra),
                entry.violation == nil, entry.mismatch(with: extra) == nil
            else { return nil }
            return (entry, mark?.place ?? .first)
        }
    }

    /// The piece of the stream that is being read, or that could not be read.
    var piece: Int { piece(at: max(stream.offset, firstOffset)) }

    private func piece(at offset: UInt64) -> Int {
        Int((offset - firstOffset) / UInt64(FrameFormat.chunkSize))
    }

    /// Checks the entry's position in the window, and that no other entry of the window has its
    /// path.
    private func follow(_ entry: ArchiveEntry, at offset: UInt64) throws {
        // Reading may begin within a window, which is then not checked.
        if place == .first { isInWindow = true }
        guard isInWindow else { return }
        let start = offset - firstOffset
        guard entryIndex.add(entry, offset: start, place: place) else {
            let message = "an entry lies where no window holds it"
            throw ArchiveError(.refused, message, entry: entry.path, offset: offset)
        }
        if place == .first { paths.removeAll() }
        guard paths.insert(entry.path.randomHash) else {
            let message = "the path comes twice"
            throw ArchiveError(.entryExists, message, entry: entry.path, offset: offset)
        }
    }

    /// Whether, so far, no two entries can have the same path.
    var hasDistinctPaths: Bool { isInWindow && entryIndex.isAscending }

    /// Whether an entry read from the current window has the path with `hash`.
    func windowHolds(_ hash: Int) -> Bool { paths.contains(hash) }

    /// Continues with the entry whose header begins at `offset` of the tar stream.
    ///
    /// The totals and the index then no longer match the archive.
    func seek(to offset: UInt64) throws {
        (current, isListed, pending) = (nil, false, nil)
        counted = (-1, 0)
        isFinished = false
        isInWindow = false
        entryIndex = EntryIndexBuilder()
        guard table == nil else {
            pending = offset
            return
        }
        try moveStream(to: offset)
    }

    func readContent(_ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        _ = try takeContent { offset, slice in
            let bytes = slice.chunk.buffer.bytes
            if slice.count > 0 { try body(offset, bytes.span.extracting(slice.range)) }
        }
    }

    /// Where the content of the current entry is, counted from the first piece; `nil` if it was
    /// already read.
    func contentPlace() throws -> (start: UInt64, size: UInt64)? {
        try readListedHeader()
        return current.map { (stream.offset - firstOffset, $0.contentSize) }
    }

    /// Reads the content as ``readContent(_:)`` does, without those of `pieces` that `isKnown` knows.
    func readContent(
        passingOver pieces: ContentPieces,
        where isKnown: (ContentPiece) throws -> Bool,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        guard let entry = current else { return }
        var position: UInt64 = 0
        func read(upTo end: UInt64) throws {
            try stream.read(end - position) { piece in
                try body(position, piece)
                position += UInt64(piece.count)
            }
        }
        for number in pieces.numbers {
            let piece = pieces[number]
            try read(upTo: piece.offset)
            guard try isKnown(piece) else { continue }
            try stream.skip(UInt64(FrameFormat.chunkSize))
            position += UInt64(piece.count)
            // The padding was skipped too.
            if position == entry.contentSize { return current = nil }
        }
        try read(upTo: entry.contentSize)
        try skipPadding(after: entry.contentSize)
        current = nil
    }

    func takeContent(_ body: (UInt64, ContentSlice) throws -> Void) throws -> Bool {
        try readListedHeader()
        guard let size = current?.contentSize else { return false }
        var position: UInt64 = 0
        var zeros = ZeroPageCounter()
        repeat {
            let slice = try stream.takeSlice(size - position)
            if readsAllContent {
                let bytes = slice.chunk.buffer.bytes
                zeros.add(bytes.span.extracting(slice.range))
            }
            try body(position, slice)
            position += UInt64(slice.count)
        } while position < size
        try skipPadding(after: size)
        totals.dataBytes.addSaturating(size - zeros.bytes)
        current = nil
        return true
    }

    func takeOmissions() -> [EntryOmission] { [] }
}

// MARK: - The table of large files

extension StrictTarReader {
    /// Where the next entry begins.
    var nextOffset: UInt64 {
        get throws {
            if current != nil { return try endOfCurrent() }
            return pending ?? stream.offset
        }
    }

    private func endOfCurrent() throws -> UInt64 {
        guard let entry = current else { return stream.offset }
        let content = TarFormat.padded(entry.contentSize)
        guard isListed else { return stream.offset + content }
        expectedBytes.removeAll(keepingCapacity: true)
        try encoder.encode(entry, to: &expectedBytes)
        return entryOffset + UInt64(expectedBytes.count) + content
    }

    private func isListed(at offset: UInt64) throws -> Bool {
        try table?.isListed(at: offset - firstOffset) ?? false
    }

    /// The file whose header begins at `offset`, if its piece need not be read.
    private func listedFile(at offset: UInt64) throws -> LargeFile? {
        guard let table, try isListed(at: offset) else { return nil }
        return try table.file(at: offset - firstOffset)
    }

    private func take(_ file: LargeFile) throws -> ArchiveEntry {
        let entry = try take(file.entry, place: file.place, at: firstOffset + file.start)
        pending = nil
        isListed = true
        return entry
    }

    /// Reads the header of the current entry, if only the table has been read so far.
    private func readListedHeader() throws {
        guard isListed, let listed = current else { return }
        try moveStream(to: entryOffset, marksTaken: counted.entries - 1)
        guard let (entry, place) = try readEntry(at: entryOffset), entry == listed,
            place == self.place
        else { throw Self.wrongTable(listed, at: entryOffset) }
        isListed = false
    }

    /// Moves the stream to the entry at `target`, the first in its piece after `marksTaken` others.
    private func moveStream(to target: UInt64, marksTaken: Int = 0) throws {
        guard try stream.seek(to: target, marksTaken: marksTaken) else {
            throw ArchiveError(.inputFailed, "the archive can only be read in order")
        }
    }

    private static func wrongTable(_ entry: ArchiveEntry, at offset: UInt64) -> ArchiveError {
        let message = "the table of large files does not match the archive"
        return ArchiveError(.damaged, message, entry: entry.path, offset: offset)
    }
}

// MARK: - Headers

extension StrictTarReader {
    private func take(_ block: UstarBlock) {
        headerBytes.append(block: block)
    }

    private func readRecords(sizedBy block: UstarBlock) throws -> PaxRecords {
        let offset = stream.offset
        guard block.hasValidChecksum, let size = block.octal(at: UstarBlock.Field.size),
            size <= UInt64(TarFormat.recordLimit)
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
        of block: UstarBlock,
        records: PaxRecords,
        at offset: UInt64
    ) throws -> ArchiveEntry {
        guard block.hasValidChecksum else {
            throw ArchiveError(.damaged, "a header's checksum is wrong", offset: offset)
        }
        guard let entry = StrictEntryParser.parse(block, records: records, extra) else {
            throw ArchiveError(
                .refused,
                "a header contains something that archives never contain",
                offset: offset
            )
        }
        if let violation = entry.violation ?? entry.mismatch(with: extra) {
            throw ArchiveError(.refused, violation, entry: entry.path, offset: offset)
        }
        expectedBytes.removeAll(keepingCapacity: true)
        try encoder.encode(entry, to: &expectedBytes)
        let (expected, found) = (expectedBytes, headerBytes)
        guard expected.span.isEqual(to: found.span) else {
            throw ArchiveError(
                .refused,
                "an entry is not encoded as this format encodes it",
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
        if readsAllContent { return try readContent { _, _ in } }
        let end = try endOfCurrent()
        if try isListed || isListed(at: end) {
            pending = end
            (current, isListed) = (nil, false)
            return
        }
        try stream.skip(entry.contentSize)
        try skipPadding(after: entry.contentSize)
        current = nil
    }

    /// Skips what follows the content of the current entry, which has `size` bytes.
    private func skipPadding(after size: UInt64) throws {
        let padding = TarFormat.padded(size) - size
        if padding == 0 { return }
        let offset = stream.offset
        guard try stream.skipZeros(padding) else {
            throw ArchiveError(
                .refused,
                "bytes are hidden after an entry's content",
                entry: current?.path,
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

// MARK: - Entries

/// Turns a header that the writer could have written into its entry.
enum StrictEntryParser {
    /// Returns the entry whose only header is `block`; `nil` unless the writer writes exactly this header for it.
    static func parse(
        _ block: Span<UInt8>,
        _ mark: EntryMark?,
        _ extra: ExtraMetadata
    ) -> ArchiveEntry? {
        func number(_ field: Range<Int>) -> UInt64? {
            UstarBlock.writtenNumber(at: field, of: block)
        }
        typealias Field = UstarBlock.Field
        guard UstarBlock.isWritten(block), var path = path(in: block),
            let link = UstarBlock.writtenText(at: Field.linkName, of: block),
            TarEntryEncoder.isPlain(link),
            let permissions = number(Field.mode), permissions <= 0o7777,
            let user = number(Field.userID), let group = number(Field.groupID),
            extra.contains(.owners) || user | group == 0,
            let size = number(Field.size), let seconds = number(Field.modificationTime)
        else { return nil }
        let nanoseconds = mark?.nanoseconds ?? 0
        let kind: ArchiveEntry.Kind
        switch block[Field.typeFlag] {
        case TypeFlag.regular where link.isEmpty: kind = .file(size: size)
        case TypeFlag.directory where link.isEmpty && size == 0:
            guard path.popLast() == UInt8(ascii: "/") else { return nil }
            kind = .directory
        case TypeFlag.symbolicLink where size == 0: kind = .symbolicLink(target: link)
        case TypeFlag.hardLink where size == 0 && nanoseconds == 0:
            kind = .hardLink(target: EntryPath(bytes: link))
        default: return nil
        }
        let hasOwner = extra.contains(.owners)
        return ArchiveEntry(
            path: EntryPath(bytes: path),
            kind: kind,
            permissions: UInt16(permissions),
            modificationTime: FileTime(seconds: Int64(seconds), nanoseconds: nanoseconds),
            owner: hasOwner ? FileOwner(user: UInt32(user), group: UInt32(group)) : nil
        )
    }

    /// The path in the fields of `block`, if the writer splits it like this.
    private static func path(in block: Span<UInt8>) -> [UInt8]? {
        guard let name = UstarBlock.writtenText(at: UstarBlock.Field.name, of: block),
            let prefix = UstarBlock.writtenText(at: UstarBlock.Field.prefix, of: block)
        else { return nil }
        let path = prefix.isEmpty ? name : prefix + [UInt8(ascii: "/")] + name
        return TarEntryEncoder.cutOfName(path) == prefix.count ? path : nil
    }

    /// Returns the entry, or `nil` if a field can't be read or a record is of an unknown kind.
    ///
    /// The caller encodes the result again and compares it. So this doesn't check for redundant fields,
    /// other spellings or an unexpected order, which the comparison finds.
    static func parse(
        _ block: UstarBlock,
        records: PaxRecords,
        _ extra: ExtraMetadata
    ) -> ArchiveEntry? {
        var fields = Fields(of: block, extra)
        for record in records.records {
            guard fields.apply(record) else { return nil }
        }
        guard let kind = fields.kind(typeFlag: block[UstarBlock.Field.typeFlag]),
            let permissions = block.octal(at: UstarBlock.Field.mode), permissions <= 0o7777,
            let time = fields.modificationTime
        else { return nil }
        return ArchiveEntry(
            path: EntryPath(bytes: fields.path(of: kind)),
            kind: kind,
            permissions: UInt16(permissions),
            modificationTime: time,
            extendedAttributes: fields.metadata.attributes,
            owner: extra.contains(.owners) ? fields.owner : nil
        )
    }

    private struct Fields {
        var name: [UInt8]
        var link: [UInt8]
        var size: UInt64?
        var modificationTime: FileTime?
        var metadata: RecordedMetadata
        private let user: UInt32?
        private let group: UInt32?

        init(of block: UstarBlock, _ extra: ExtraMetadata) {
            metadata = RecordedMetadata(holding: extra)
            user = block.octal(at: UstarBlock.Field.userID).flatMap { UInt32(exactly: $0) }
            group = block.octal(at: UstarBlock.Field.groupID).flatMap { UInt32(exactly: $0) }
            let prefix = block.text(at: UstarBlock.Field.prefix)
            let last = block.text(at: UstarBlock.Field.name)
            name = prefix.isEmpty ? last : prefix + [UInt8(ascii: "/")] + last
            link = block.text(at: UstarBlock.Field.linkName)
            size = block.octal(at: UstarBlock.Field.size)
            modificationTime = block.octal(at: UstarBlock.Field.modificationTime)
                .flatMap { Int64(exactly: $0) }.map { FileTime(seconds: $0) }
        }

        mutating func apply(_ record: PaxRecords.Record) -> Bool {
            switch record.key {
            case PaxKey.path: name = record.value
            case PaxKey.linkPath: link = record.value
            case PaxKey.size: size = PaxKey.number(record.value)
            case PaxKey.modificationTime: modificationTime = PaxTime.decode(record.value)
            case PaxKey.headerCharacterSet: break
            default: return metadata.take(record)
            }
            return true
        }

        var owner: FileOwner? {
            guard let user = metadata.user ?? user, let group = metadata.group ?? group else {
                return nil
            }
            return FileOwner(user: user, group: group)
        }

        func kind(typeFlag: UInt8) -> ArchiveEntry.Kind? {
            switch typeFlag {
            case TypeFlag.regular: size.map { .file(size: $0) }
            case TypeFlag.directory: .directory
            case TypeFlag.symbolicLink: .symbolicLink(target: link)
            case TypeFlag.hardLink: .hardLink(target: EntryPath(bytes: link))
            default: nil
            }
        }

        func path(of kind: ArchiveEntry.Kind) -> [UInt8] {
            guard kind == .directory, name.last == UInt8(ascii: "/") else { return name }
            return [UInt8](name.dropLast())
        }
    }
}
