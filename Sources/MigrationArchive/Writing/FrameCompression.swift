internal import MigrationSystem

/// Reads, hashes and compresses pieces on the threads of an operation and writes the frames in the pieces' order.
///
/// The hashes depend only on the pieces. Without an output the pieces are only hashed. If the
/// output holds the beginning of an archive, its frames are kept as long as they match the pieces.
final class FrameCompression {
    /// The maximum number of windows in a piece, for paths of the usual length.
    private static let usualWindows = 3

    private let buffers: FrameBufferPool
    private let frames: FrameWriter
    private let makeStep: () -> OrderedStep<WrittenPiece, CompressedFrame>
    private var step: OrderedStep<WrittenPiece, CompressedFrame>
    private var submitted = 0

    init(
        writingTo output: ArchiveOutput?,
        after header: HeaderFrame,
        keeping pieces: [ArchiveBeginning.Piece] = [],
        level: Int,
        isCompressible: Bool,
        on operation: MigrationOperation
    ) {
        let buffers = FrameBufferPool()
        let compression = Compression(level: level, isCompressible: isCompressible)
        let frames = FrameWriter(
            to: output,
            after: header,
            keeping: pieces,
            compression,
            recyclingTo: buffers
        )
        self.buffers = buffers
        self.frames = frames
        let depth = Self.depth(of: operation, level: level)
        makeStep = {
            OrderedStep(of: operation, depth: depth, sink: frames.write) {
                guard output != nil else {
                    return { CompressedFrame(hashing: try $0.complete(operation)) }
                }
                var compressor = try FrameCompressor.make(level: level)
                return { piece in
                    let piece = try piece.complete(operation)
                    if piece.number < pieces.count, !frames.hasDiffered,
                        let kept = CompressedFrame(keeping: pieces[piece.number], of: piece)
                    {
                        return kept
                    }
                    return try CompressedFrame(of: piece, compression, with: &compressor, buffers)
                }
            }
        }
        step = makeStep()
    }

    /// How many pieces there are at once.
    private static func depth(of operation: MigrationOperation, level: Int) -> Int {
        // While all threads compress, one more is laid out, if the tables leave memory for it.
        let hasRoom = operation.threadCount > 1 && FrameCompressor.hasSmallTables(level)
        return operation.threadCount + (hasRoom ? 1 : 0)
    }

    /// The totals of the entries whose headers were written.
    var totals: ArchiveTotals { frames.totals }

    /// The bytes of the tar stream that were written.
    var streamBytes: UInt64 { frames.streamBytes }

    /// The bytes of the tar stream after compression; a piece that compression doesn't make smaller
    /// counts uncompressed.
    var compressedStreamBytes: UInt64 { frames.compressedStreamBytes }

    /// The bytes of frames that were kept.
    var keptBytes: UInt64 { frames.keptBytes }

    /// Receives each entry once its headers are written, on the thread that writes them.
    var entryHandler: (@Sendable (ArchiveEntry) -> Void)? {
        get { frames.entryHandler }
        set { frames.entryHandler = newValue }
    }

    /// Returns an empty chunk to fill.
    func takeChunk() -> FrameBuffer {
        let chunk = buffers.take()
        chunk.marks = []
        return chunk
    }

    /// Submits a full chunk, or the last one; waits until there may be another one.
    ///
    /// - Throws: The first error in the order of the pieces, which may be a ``LayoutChange``.
    func submit(_ chunk: FrameBuffer, _ entries: PieceEntries, isLast: Bool = false) throws {
        guard submitted < ArchiveIndex.frameLimit else {
            throw ArchiveError(.unrepresentable, "an archive holds at most 1 TiB")
        }
        try step.submit(
            WrittenPiece(number: submitted, chunk: chunk, entries: entries, isLast: isLast)
        )
        submitted += 1
        if !isLast { try step.waitForRoom() }
        // So many windows must be full of long paths, which take as much memory as the piece.
        if entries.windows.count > Self.usualWindows { try step.settle() }
    }

    /// Continues with piece `number`, which replaces the one that ended the work.
    func restart(at number: Int) {
        step.abandon()
        step = makeStep()
        submitted = number
    }

    /// Waits until everything that was submitted is written.
    func settle() throws { try step.settle() }

    /// Ends after the last piece; returns the index of the frames with that of the entries.
    func finish() throws -> (frames: ArchiveIndex, entries: [UInt8]) { try frames.finish() }

    /// Ends the work without finishing the archive.
    func abandon() { step.abandon() }
}

/// A piece on its way into an archive.
private struct WrittenPiece {
    let number: Int
    let chunk: FrameBuffer
    var entries: PieceEntries
    let isLast: Bool

    /// The piece with what has to be read for it.
    func complete(_ operation: MigrationOperation) throws -> WrittenPiece {
        var piece = self
        try piece.entries.read(into: &chunk.bytes, operation)
        return piece
    }
}

/// How chunks are compressed.
private struct Compression {
    let level: Int
    let isCompressible: Bool
}

/// A frame of an archive, in the buffer that holds its bytes until it is written.
private struct CompressedFrame: Sendable {
    private enum Form {
        case compressed
        case stored(StoredFrame)
        /// There is nothing to write.
        case hashed
        /// It and the frames that follow it are already in the output, if all earlier ones are too.
        case kept(ArchiveBeginning.Piece)
    }

    let piece: WrittenPiece
    let digest: [UInt8]
    let marks: [EntryMark]
    /// The bytes of the piece.
    let size: UInt32
    let buffer: FrameBuffer
    private let form: Form

    /// Hashes `piece`, and makes no frame of it.
    init(hashing piece: WrittenPiece) {
        self.init(piece, digest: SHA256Digest.hash(ofPiece: piece.chunk), piece.chunk, .hashed)
    }

    /// Makes no frame of `piece`, because `kept` is the same frame; `nil` if it isn't.
    init?(keeping kept: ArchiveBeginning.Piece, of piece: WrittenPiece) {
        guard kept.listing.size == UInt32(piece.chunk.count) else { return nil }
        let digest = SHA256Digest.hash(ofPiece: piece.chunk)
        guard digest == kept.digest else { return nil }
        self.init(piece, digest: digest, piece.chunk, .kept(kept))
    }

    /// Makes a frame of `piece`, and returns its chunk to `buffers` if the frame doesn't need it.
    init(
        of piece: WrittenPiece,
        _ compression: Compression,
        with compressor: inout FrameCompressor,
        _ buffers: FrameBufferPool
    ) throws(ArchiveError) {
        let chunk = piece.chunk
        let digest = SHA256Digest.hash(ofPiece: chunk)
        guard compression.isCompressible, !compressor.isIncompressible(chunk) else {
            self.init(piece, digest: digest, chunk, .stored(StoredFrame(of: chunk)))
            return
        }
        let buffer = buffers.take()
        try compressor.compress(chunk, into: buffer)
        self.init(piece, digest: digest, buffer, .compressed)
        buffers.keep(chunk)
    }

    private init(_ piece: WrittenPiece, digest: [UInt8], _ buffer: FrameBuffer, _ form: Form) {
        (self.piece, self.digest, self.buffer, self.form) = (piece, digest, buffer, form)
        size = UInt32(piece.chunk.count)
        marks = piece.chunk.marks ?? []
    }

    /// The part to keep in place, if everything before it and the frames after it stay too.
    var kept: ArchiveBeginning.Piece? {
        if case .kept(let piece) = form { piece } else { nil }
    }

    /// The bytes of the frame alone.
    var frameSize: Int {
        switch form {
        case .compressed: buffer.count
        case .stored(let frame): frame.size
        case .hashed, .kept: 0
        }
    }

    func write(to output: ArchiveOutput) throws {
        switch form {
        case .compressed: try buffer.withContent { try output.write($0) }
        case .stored(let frame): try output.write(frame)
        case .hashed, .kept: return
        }
    }
}

/// Writes frames and lists them, and the entries in them.
///
/// Safe because the step calls it on one thread at a time, and its owner before the first frame and
/// after the last one. Other threads only ask, under a lock, whether something has differed.
private final class FrameWriter: @unchecked Sendable {
    private let output: ArchiveOutput?
    private let compression: Compression
    private let buffers: FrameBufferPool
    private let difference: Monitor<Bool>
    /// Where the kept frames end.
    private var end: UInt64
    private var index: ArchiveIndex
    private var entryIndex = EntryIndexBuilder(checksOrder: false)
    private(set) var totals = ArchiveTotals()
    private(set) var streamBytes: UInt64 = 0
    private(set) var compressedStreamBytes: UInt64 = 0
    private(set) var keptBytes: UInt64 = 0
    var entryHandler: (@Sendable (ArchiveEntry) -> Void)?

    init(
        to output: ArchiveOutput?,
        after header: HeaderFrame,
        keeping pieces: [ArchiveBeginning.Piece],
        _ compression: Compression,
        recyclingTo buffers: FrameBufferPool
    ) {
        self.output = output
        self.compression = compression
        self.buffers = buffers
        difference = Monitor(pieces.isEmpty)
        end = UInt64(header.bytes.count)
        index = ArchiveIndex(after: header)
    }

    /// Whether some frame has differed, so that all later ones are written again.
    var hasDiffered: Bool { difference.withLock { $0 } }

    func write(_ frame: CompressedFrame) throws {
        let entries = frame.piece.entries
        try entries.end()
        let extraFrames = frame.marks.encoded + takeTable(of: frame)
        if let kept = frame.kept, !hasDiffered,
            SHA256Digest.hash(of: extraFrames) == kept.extraFramesDigest
        {
            end += UInt64(kept.listing.compressedSize)
            keptBytes += UInt64(kept.listing.compressedSize)
            list(frame, compressedSize: kept.listing.compressedSize)
        } else {
            try stopKeeping()
            try put(frame, extraFrames)
        }
        guard let entryHandler else { return }
        for entry in entries.begun {
            entryHandler(entries.windows[entry.window].entry(at: entry.index))
        }
    }

    /// Lists the entries that begin in a piece; returns the frame of the table of large files that follows it.
    private func takeTable(of frame: CompressedFrame) -> [UInt8] {
        let (number, entries) = (frame.piece.number, frame.piece.entries)
        let first = UInt64(number) * UInt64(FrameFormat.chunkSize)
        for (begun, mark) in zip(entries.begun, frame.marks) {
            let entry = entries.windows[begun.window].entry(at: begun.index)
            let offset = first + UInt64(begun.start)
            _ = entryIndex.add(entry, offset: offset, place: mark.place)
            totals.count(entry)
        }
        totals.dataBytes += entries.dataBytes
        let isLast = frame.piece.isLast
        return isLast ? entryIndex.takeLastTable(behind: number) : entryIndex.takeTable()
    }

    /// Drops everything in the output after the kept frames.
    func finish() throws -> (frames: ArchiveIndex, entries: [UInt8]) {
        try stopKeeping()
        index.totals = totals
        return (index, entryIndex.encoded(frameCount: index.frames.count))
    }

    private func stopKeeping() throws {
        if hasDiffered { return }
        difference.withLock { $0 = true }
        try output?.goOn(at: end)
    }

    private func put(_ frame: CompressedFrame, _ extraFrames: [UInt8]) throws {
        guard let output else { return list(frame, compressedSize: 0) }
        guard frame.kept == nil else {
            // An earlier frame differs, which was not known yet when another thread checked this
            // one.
            var compressor = try FrameCompressor.make(level: compression.level)
            let piece = frame.piece
            return try put(
                CompressedFrame(of: piece, compression, with: &compressor, buffers),
                extraFrames
            )
        }
        try frame.write(to: output)
        try output.write(extraFrames.span)
        list(frame, compressedSize: UInt32(frame.frameSize + extraFrames.count))
    }

    private func list(_ frame: CompressedFrame, compressedSize: UInt32) {
        let listing = ArchiveIndex.Frame(compressedSize: compressedSize, size: frame.size)
        index.append(listing, digest: frame.digest)
        streamBytes += UInt64(frame.size)
        compressedStreamBytes += UInt64(min(frame.size, compressedSize))
        buffers.keep(frame.buffer)
    }
}
