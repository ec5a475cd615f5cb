internal import MigrationSystem

/// Finds entries in the table of large files, with one frame at a time in memory.
///
/// The table only repeats the headers. A reader that needs a file's content reads the header too.
final class LargeFileTable {
    private let input: ArchiveInput
    private let header: HeaderFrame
    /// The index of the archive.
    let archive: ArchiveIndex
    /// The index of entries, read when it is needed.
    private var known: EntryIndex?
    /// The piece that was asked about last, and whether the table holds all entries that begin in
    /// it.
    private var asked = (piece: -1, isListed: false)
    /// The frame that was read last, and the end of the piece that it follows.
    private var files: [LargeFile] = []
    private var table = -1
    private var piece = 0
    private var pieceEnd: UInt64

    /// Finds entries of the archive in `input`, which begins with `header`.
    init(of input: ArchiveInput, after header: HeaderFrame, index: ArchiveIndex) {
        self.input = input
        self.header = header
        archive = index
        pieceEnd = UInt64(header.bytes.count)
    }

    /// The index of entries.
    func index() throws -> EntryIndex {
        if let known { return known }
        let index = try input.readEntryIndex(listedIn: archive)
        known = index
        return index
    }

    /// Whether the table holds all entries that begin in the piece with the byte at `offset` from the first.
    func isListed(at offset: UInt64) throws -> Bool {
        let piece = Int(offset / UInt64(FrameFormat.chunkSize))
        if piece != asked.piece { asked = (piece, try index().isListed(piece: piece)) }
        return asked.isListed
    }

    /// The file that begins at `offset` from the first piece; `nil` if the table holds none.
    func file(at offset: UInt64) throws -> LargeFile? {
        let index = try index()
        let piece = Int(offset / UInt64(FrameFormat.chunkSize))
        let number = index.tables.number(from: piece)
        guard number < index.tables.count else { return nil }
        try readTable(number)
        let first = files.partitionPoint { $0.start >= offset }
        return first < files.count && files[first].start == offset ? files[first] : nil
    }

    /// Passes to `body` the paths of entries in `range` of the stream that the archive's end names:
    /// those of large files, and of the first entry of each piece.
    ///
    /// Damaged frames of the table are skipped.
    func forEachPath(in range: Range<UInt64>, _ body: (EntryPath) throws -> Void) throws {
        let index = try index()
        let chunk = UInt64(FrameFormat.chunkSize)
        let first = Int(clamping: range.lowerBound / chunk)
        for number in index.tables.number(from: first)..<index.tables.count {
            try forEachFile(inTable: number) { file in
                if range.contains(file.start) { try body(file.entry.path) }
            }
            if UInt64(index.tables[number].piece) * chunk >= range.upperBound { break }
        }
        for piece in first..<max(first, archive.frames.count)
        where UInt64(piece) * chunk < range.upperBound {
            guard let start = index.firstEntry(inPiece: piece), range.contains(start),
                let path = index.firstPath(inPiece: piece)
            else { continue }
            // A damaged frame names no file.
            if (try? file(at: start)) == nil { try body(path) }
        }
    }

    private func forEachFile(
        inTable number: Int,
        _ body: (LargeFile) throws -> Void
    ) throws {
        do {
            try readTable(number)
        } catch let error as ArchiveError where error.isOfArchive {
            return
        }
        for file in files { try body(file) }
    }

    private func readTable(_ number: Int) throws {
        if number == table { return }
        let listed = try index().tables[number]
        try input.operation.check()
        if listed.piece < piece { (piece, pieceEnd) = (0, UInt64(header.bytes.count)) }
        while piece <= listed.piece {
            pieceEnd += UInt64(archive.frames[piece].compressedSize)
            piece += 1
        }
        guard listed.size < Int(archive.frames[listed.piece].compressedSize) else {
            throw LargeFile.damage
        }
        var frame = [UInt8](repeating: 0, count: listed.size)
        let start = pieceEnd - UInt64(listed.size)
        try input.readExactly(at: start, into: &frame, count: listed.size)
        guard SHA256Digest.hash(of: frame) == listed.digest else { throw LargeFile.damage }
        files = try LargeFile.files(in: frame, holding: header.header.extraMetadata)
        table = number
    }
}

extension [EntryIndex.Table] {
    /// The number of the first frame that follows `piece` or a later one; the count if none does.
    fileprivate func number(from piece: Int) -> Int {
        partitionPoint { $0.piece >= piece }
    }

    /// The frame that is listed after piece `number`.
    func table(behind number: Int) -> EntryIndex.Table? {
        let next = dropFirst(self.number(from: number)).first
        return next?.piece == number ? next : nil
    }
}
