internal import MigrationSystem

/// How much of an archive is read, and which of its pieces are opened ahead of the reader.
package enum PiecePlan: Sendable {
    /// Everything, up to the archive's end.
    case whole
    /// Only the requested pieces, if the archive is a file.
    case selective
    /// The same, for a reader of all entries that needs no content: pieces in which entries begin
    /// that are not in the table of large files are opened ahead.
    case listing
    /// All entries, and from a file only the requested pieces of content; the others are opened
    /// ahead.
    case comparing

    /// Whether piece `number` is opened ahead.
    fileprivate func includes(_ number: Int, of index: ArchiveIndex, _ entries: EntryIndex?) -> Bool
    {
        switch self {
        case .whole: true
        case .selective: false
        case .listing: entries?.isListed(piece: number) == false
        // The last piece holds the end of the stream.
        case .comparing:
            entries?.firstEntry(inPiece: number) != nil || number == index.frames.count - 1
        }
    }
}

/// Reads pieces of an archive, each checked against its hash: planned pieces are opened by the
/// threads of the operation, ahead of the reader, and the others on request.
///
/// From a pipe one thread at a time reads; from a file each thread reads its own piece.
final class PieceReader: ChunkSource {
    /// The pieces that may be in use on top of those that are read ahead.
    ///
    /// One is at the reader's cursor. If there are other threads, they make the files of another.
    private static func piecesInUse(by threadCount: Int) -> Int { min(threadCount, 2) }

    private let input: ArchiveInput
    private let start: UInt64
    private let plan: PiecePlan
    /// The index, if it is known before the end.
    private let known: ArchiveIndex?
    private let frames: FrameSource
    private let listing: LargeFileTable?
    private let contents = FrameBufferPool()
    /// Started with the first piece.
    private var step: OrderedStep<SealedPiece, OpenedPiece>?
    /// Opens the pieces that are not planned.
    private var opener: PieceOpener?
    /// A planned piece after the last requested one.
    private var waiting: OpenedPiece?

    /// The piece to be read next, and where it begins in the archive.
    private var next = 0
    private(set) var position: UInt64
    private var seen: ArchiveIndex
    private var seenTables: [EntryIndex.Table] = []
    /// Whether all pieces and the archive's end were compared; until then another thread may be reading the end.
    private var isProved = false

    /// Reads the pieces after `header`; a plan for the parts of a file needs the `listing` of its entries.
    init(
        reading input: ArchiveInput,
        after header: HeaderFrame,
        index: ArchiveIndex?,
        plan: PiecePlan,
        listing: LargeFileTable? = nil
    ) {
        self.input = input
        self.plan = plan
        self.listing = listing
        known = index
        frames = FrameSource(reading: input, after: header)
        start = UInt64(header.bytes.count)
        position = start
        seen = ArchiveIndex(after: header)
    }

    deinit { close() }

    func close() {
        input.close()
        step?.abandon()
    }

    /// The archive's index; from a pipe it is known once every piece was read.
    var index: ArchiveIndex? { known ?? (isProved ? frames.end?.index : nil) }

    /// The index of entries, once every piece was read and the archive's end too.
    var entryIndex: EntryIndex? { isProved ? frames.end?.entries : nil }

    func nextChunk() throws -> FrameBuffer? {
        while let piece = try waiting.take() ?? startedStep()?.next() {
            guard piece.number <= next else {
                waiting = piece
                break
            }
            if plan != .whole { step?.release() }
            if piece.number == next { return take(piece) }
            contents.keep(piece.content)
        }
        guard plan != .whole, let known else {
            try checkEnd()
            isProved = true
            return nil
        }
        guard next < known.frames.count else { return nil }
        let opener = try opener ?? PieceOpener(reading: input, index: known)
        self.opener = opener
        let piece = SealedPiece(next, known.frames[next], at: position)
        return take(try opener.open(piece, into: contents.take()))
    }

    private func take(_ piece: OpenedPiece) -> FrameBuffer {
        if plan == .whole {
            if known == nil { seen.append(piece.listing, digest: piece.digest) }
            if let table = piece.table { seenTables.append(table) }
        }
        pass(piece.listing)
        return piece.content
    }

    private func pass(_ frame: ArchiveIndex.Frame) {
        position += UInt64(frame.compressedSize)
        next += 1
    }

    /// Throws unless the archive's end lists exactly the pieces that were read; if the end was
    /// known from the start, each piece was compared when it was read.
    private func checkEnd() throws {
        guard let end = frames.end else { return }
        guard end.entries.tables == seenTables else { throw LargeFile.otherTable }
        guard known == nil else { return }
        guard end.index.frames == seen.frames, end.index.digests == seen.digests else {
            throw ArchiveError(.damaged, "a piece is not the one that was written")
        }
    }

    func recycle(_ chunk: FrameBuffer) {
        contents.keep(chunk)
        if plan == .whole { step?.release() }
    }

    func seek(to offset: UInt64) -> UInt64? {
        guard plan != .whole, let known else { return nil }
        let target = Int(offset / UInt64(FrameFormat.chunkSize))
        if target < next { (next, position) = (0, start) }
        // The last piece may be shorter than the others, so the stream's end is found by reading it.
        while next < min(target, known.frames.count - 1) { pass(known.frames[next]) }
        return UInt64(next) * UInt64(FrameFormat.chunkSize)
    }
}

// MARK: - Opening ahead

extension PieceReader {
    private func startedStep() throws -> OrderedStep<SealedPiece, OpenedPiece>? {
        guard step == nil, plan != .selective else { return step }
        let (input, contents, plan, known) = (input, contents, plan, known)
        let sealed = FrameBufferPool()
        let entries = try listing?.index()
        let tables = plan == .comparing ? entries?.tables : nil
        let threadCount = input.operation.threadCount
        step = OrderedStep(
            of: input.operation,
            depth: threadCount + (plan == .whole ? Self.piecesInUse(by: threadCount) : 1),
            ahead: plan == .whole ? threadCount + 1 : .max,
            source: known.map { planned($0, entries) } ?? found(through: sealed)
        ) {
            let opener = try PieceOpener(reading: input, index: known)
            return { piece in
                defer { piece.buffer.map(sealed.keep) }
                let opened: OpenedPiece
                do {
                    opened = try opener.open(piece, into: contents.take())
                } catch {
                    // A pipe may stall, and its next piece is not needed.
                    input.close()
                    throw error
                }
                if let tables, opened.table != tables.table(behind: piece.number) {
                    throw LargeFile.otherTable
                }
                return opened
            }
        }
        return step
    }

    /// Returns the planned pieces of a file, one after another, and reads its end if everything is read.
    private func planned(
        _ index: ArchiveIndex,
        _ entries: EntryIndex?
    ) -> () throws -> SealedPiece? {
        let (plan, frames) = (plan, frames)
        var (number, offset) = (0, start)
        return {
            while number < index.frames.count {
                let piece = SealedPiece(number, index.frames[number], at: offset)
                offset += UInt64(index.frames[number].compressedSize)
                number += 1
                if plan.includes(piece.number, of: index, entries) { return piece }
            }
            if plan == .whole { try frames.readEnd(of: index) }
            return nil
        }
    }

    /// Returns the pieces of a pipe, one after another, read into buffers of `pool`.
    private func found(through pool: FrameBufferPool) -> () throws -> SealedPiece? {
        let frames = frames
        var number = 0
        return {
            let buffer = pool.take()
            guard let size = try frames.nextFrame(into: buffer) else { return nil }
            defer { number += 1 }
            return SealedPiece(number: number, contentSize: size, buffer: buffer)
        }
    }
}

/// A piece as it is in the archive, not yet opened and checked.
private struct SealedPiece: Sendable {
    let number: Int
    let contentSize: Int
    /// Its bytes, if they were already read; otherwise they are at `range` of the file.
    var buffer: FrameBuffer?
    var range: Range<UInt64> = 0..<0
}

extension SealedPiece {
    init(_ number: Int, _ frame: ArchiveIndex.Frame, at offset: UInt64) {
        self.init(
            number: number,
            contentSize: Int(frame.size),
            range: offset..<offset + UInt64(frame.compressedSize)
        )
    }
}

/// The content of a piece, with its hash.
private struct OpenedPiece: Sendable {
    let number: Int
    let content: FrameBuffer
    let listing: ArchiveIndex.Frame
    let digest: [UInt8]
    /// The frame of the table of large files after it.
    let table: EntryIndex.Table?
}

/// Opens pieces, and checks each hash if it is known; one thread at a time may use it.
private final class PieceOpener {
    private let input: ArchiveInput
    private let index: ArchiveIndex?
    private var decompressor: FrameDecompressor
    private lazy var compressed = FrameBuffer()

    init(reading input: ArchiveInput, index: ArchiveIndex?) throws(ArchiveError) {
        self.input = input
        self.index = index
        decompressor = try FrameDecompressor()
    }

    func open(_ piece: SealedPiece, into content: FrameBuffer) throws -> OpenedPiece {
        try input.operation.check()
        let buffer = piece.buffer ?? compressed
        if piece.buffer == nil {
            buffer.count = piece.range.count
            let start = piece.range.lowerBound
            try input.readExactly(at: start, into: &buffer.bytes, count: buffer.count)
        }
        let compressedSize = UInt32(buffer.count)
        let digest = try decompressor.open(buffer, into: content, contentSize: piece.contentSize)
        if let index, index.digest(of: piece.number) != digest[...] {
            throw ArchiveError(.damaged, "piece \(piece.number) is not the one that was written")
        }
        let size = UInt32(piece.contentSize)
        return OpenedPiece(
            number: piece.number,
            content: content,
            listing: ArchiveIndex.Frame(compressedSize: compressedSize, size: size),
            digest: digest,
            table: EntryIndex.Table(content.table, behind: piece.number)
        )
    }
}

extension EntryIndex.Table {
    /// Lists a frame of the table of large files, which follows piece `number`; `nil` if it is empty.
    fileprivate init?(_ frame: [UInt8], behind number: Int) {
        if frame.isEmpty { return nil }
        self.init(piece: number, size: frame.count, digest: SHA256Digest.hash(of: frame))
    }
}
