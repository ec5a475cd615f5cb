internal import MigrationSystem

/// Reads, hashes and compresses pieces on the threads of an operation, writes the frames in the pieces' order, and
/// lists them and the entries in them.
///
/// The hashes depend only on the pieces. Without an output the pieces are only hashed. If the
/// output holds the beginning of an archive, its frames are kept as long as they match the pieces.
///
/// Safe because the step writes on one thread at a time, and the owner calls it before the first frame and
/// after the last one. Other threads only ask, under a lock, whether something has differed.
final class FrameWriter: @unchecked Sendable {
    private let output: ArchiveOutput?
    private let level: Int
    private let isCompressible: Bool
    private let buffers = FrameBufferPool()
    private let kept: [ArchiveBeginning.Piece]
    /// Whether some frame has differed, so that all later ones are written again.
    private let difference: Monitor<Bool>
    private let headerSize: UInt64
    private var keptBytes: UInt64 = 0
    private var index: ArchiveIndex
    private var entryIndex = EntryIndexBuilder(checksOrder: false)

    /// Receives each entry once its headers are written, on the thread that writes them.
    var entryHandler: (@Sendable (ArchiveEntry) -> Void)?

    /// Begins an archive with `frame`; if the output is a file that holds `beginning`, the identical part stays in it.
    init(
        to output: ArchiveOutput?,
        goingOnFrom beginning: ArchiveBeginning?,
        after frame: HeaderFrame,
        level: Int
    ) throws {
        self.output = output
        self.level = level
        isCompressible = frame.header.isCompressible
        kept = beginning?.pieces(behind: frame) ?? []
        difference = Monitor(kept.isEmpty)
        headerSize = UInt64(frame.bytes.count)
        index = ArchiveIndex(after: frame)
        try output?.begin()
        do {
            if beginning != nil { try output?.goOn(at: 0, dropsRest: kept.isEmpty) }
            try output?.write(frame.bytes.span)
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends the work without an archive.
    func abandon() { output?.abandon() }

    /// Returns an empty chunk to fill.
    func takeChunk() -> FrameBuffer {
        let chunk = buffers.take()
        chunk.marks = []
        return chunk
    }

    /// Makes the step that takes the pieces.
    func makeStep(of operation: MigrationOperation) -> OrderedStep<WrittenPiece, WrittenPiece> {
        // While all threads compress, one more is laid out, if the tables leave memory for it.
        let hasRoom = operation.threadCount > 1 && FrameCompressor.hasSmallTables(level)
        let depth = operation.threadCount + (hasRoom ? 1 : 0)
        return OrderedStep(of: operation, depth: depth, sink: write) { [self] in
            guard output != nil else { return { try $0.completed(operation) } }
            var compressor = try FrameCompressor(level: level)
            return { [self] piece in
                var piece = try piece.completed(operation)
                if !keep(&piece) { try compress(&piece, with: &compressor) }
                return piece
            }
        }
    }
}

/// A piece on its way into an archive.
struct WrittenPiece: Sendable {
    fileprivate enum Form {
        /// The buffer holds the piece itself, and nothing is written.
        case hashed
        /// The buffer holds the piece's frame.
        case compressed
        /// The buffer holds the piece itself, which its frame refers to.
        case stored(StoredFrame)
        /// The frame and those that follow it are already in the output, if all earlier ones are too.
        case kept(ArchiveBeginning.Piece)
    }

    fileprivate let number: Int
    fileprivate var entries: PieceEntries
    fileprivate let isLast: Bool
    fileprivate let marks: [EntryMark]
    fileprivate let size: UInt32
    fileprivate var digest: [UInt8] = []
    fileprivate var buffer: FrameBuffer
    fileprivate var form = Form.hashed

    /// Makes a piece of `chunk`, in which something may still have to be read for `entries`.
    init(number: Int, _ chunk: FrameBuffer, _ entries: PieceEntries, isLast: Bool) {
        (self.number, self.entries, self.isLast) = (number, entries, isLast)
        (marks, size, buffer) = (chunk.marks ?? [], UInt32(chunk.count), chunk)
    }

    /// The piece with everything read and hashed.
    fileprivate func completed(_ operation: MigrationOperation) throws -> WrittenPiece {
        var piece = self
        try piece.entries.read(into: &buffer.bytes, operation)
        piece.digest = SHA256Digest.hash(ofPiece: buffer)
        return piece
    }
}

// MARK: - On any thread

extension FrameWriter {
    private var hasDiffered: Bool { difference.withLock { $0 } }

    /// Keeps the frame that the output holds for `piece`; returns whether it is there.
    private func keep(_ piece: inout WrittenPiece) -> Bool {
        guard piece.number < kept.count, !hasDiffered else { return false }
        let known = kept[piece.number]
        guard known.listing.size == piece.size, known.digest == piece.digest else { return false }
        piece.form = .kept(known)
        return true
    }

    /// Makes the frame of `piece`, and keeps its chunk for reuse if the frame doesn't need it.
    private func compress(
        _ piece: inout WrittenPiece,
        with compressor: inout FrameCompressor
    ) throws(ArchiveError) {
        let chunk = piece.buffer
        guard isCompressible, !compressor.isIncompressible(chunk) else {
            piece.form = .stored(StoredFrame(of: chunk))
            return
        }
        let frame = buffers.take()
        try compressor.compress(chunk, into: frame)
        (piece.buffer, piece.form) = (frame, .compressed)
        buffers.keep(chunk)
    }
}

// MARK: - In order

extension FrameWriter {
    private func write(_ piece: WrittenPiece) throws {
        var piece = piece
        try piece.entries.end()
        let extraFrames = piece.marks.encoded + takeTable(of: piece)
        let compressedSize: UInt32
        if case .kept(let known) = piece.form, !hasDiffered,
            SHA256Digest.hash(of: extraFrames) == known.extraFramesDigest
        {
            compressedSize = known.listing.compressedSize
            keptBytes += UInt64(compressedSize)
        } else {
            try stopKeeping()
            compressedSize = UInt32(try put(&piece, extraFrames))
        }
        index.append(.init(compressedSize: compressedSize, size: piece.size), digest: piece.digest)
        buffers.keep(piece.buffer)
        guard let entryHandler else { return }
        for begun in piece.entries.begun { entryHandler(piece.entries[begun]) }
    }

    /// Lists the entries that begin in `piece`; returns the frame of the table of large files that follows it.
    private func takeTable(of piece: WrittenPiece) -> [UInt8] {
        let start = UInt64(piece.number) * UInt64(FrameFormat.chunkSize)
        for (begun, mark) in zip(piece.entries.begun, piece.marks) {
            let entry = piece.entries[begun]
            _ = entryIndex.add(entry, offset: start + UInt64(begun.start), place: mark.place)
            index.totals.count(entry)
        }
        index.totals.dataBytes += piece.entries.dataBytes
        return piece.isLast
            ? entryIndex.takeLastTable(behind: piece.number) : entryIndex.takeTable()
    }

    /// Drops everything in the output after the kept frames.
    private func stopKeeping() throws {
        if hasDiffered { return }
        difference.withLock { $0 = true }
        try output?.goOn(at: headerSize + keptBytes)
    }

    /// Writes the frame of `piece` and those that follow it; returns their size.
    private func put(_ piece: inout WrittenPiece, _ extraFrames: [UInt8]) throws -> Int {
        guard let output else { return 0 }
        if case .kept = piece.form {
            // An earlier frame differs, which was not known yet when another thread checked this
            // one.
            var compressor = try FrameCompressor(level: level)
            try compress(&piece, with: &compressor)
        }
        var size = piece.buffer.count
        if case .stored(let frame) = piece.form {
            size = frame.size
            try output.write(frame)
        } else {
            try piece.buffer.withContent { try output.write($0) }
        }
        try output.write(extraFrames.span)
        return size + extraFrames.count
    }

    /// Writes the archive's end after the last piece.
    func finish() throws -> ArchiveWriter.Summary {
        try stopKeeping()
        let entries = entryIndex.encoded(frameCount: index.frames.count)
        index.append(entryIndex: entries)
        let end = index.encoded
        try output?.write(entries.span)
        try output?.write(end.span)
        return ArchiveWriter.Summary(
            totals: index.totals,
            fingerprint: index.fingerprint,
            archiveBytes: try output?.finish() ?? 0,
            streamBytes: index.streamBytes,
            keptBytes: keptBytes,
            compressedStreamBytes: index.compressedStreamBytes
        )
    }
}
