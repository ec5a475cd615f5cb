internal import MigrationSystem

/// Hashes and compresses chunks on the threads of an operation and writes the frames in the chunks' order.
///
/// The hashes depend on the chunks alone. Without an output the chunks are hashed only. Where the output holds
/// the beginning of an archive, frames stay there as long as they are those of the chunks.
final class FrameCompression {
    private let buffers = FrameBufferPool()
    private let frames: FrameWriter
    private let step: OrderedStep<NumberedChunk, CompressedFrame>
    private var submitted = 0

    private struct NumberedChunk {
        let number: Int
        let buffer: FrameBuffer
    }

    init(
        writingTo output: ArchiveOutput?,
        after header: HeaderFrame,
        keeping pieces: [ArchiveBeginning.Piece] = [],
        level: Int,
        isCompressible: Bool,
        on pool: WorkerPool
    ) {
        let buffers = buffers
        let compression = Compression(level: level, isCompressible: isCompressible)
        let frames = FrameWriter(
            to: output,
            after: header,
            keeping: pieces,
            compression,
            recyclingTo: buffers
        )
        self.frames = frames
        step = OrderedStep(of: pool, depth: pool.threadCount, sink: frames.write) {
            guard output != nil else { return { CompressedFrame(hashing: $0.buffer) } }
            var compressor = try FrameCompressor.make(level: level)
            return { chunk in
                let (number, buffer) = (chunk.number, chunk.buffer)
                if number < pieces.count, !frames.hasDiffered,
                    let kept = CompressedFrame(keeping: pieces[number], of: buffer)
                {
                    return kept
                }
                return try CompressedFrame(of: buffer, compression, with: &compressor, buffers)
            }
        }
    }

    /// The bytes of the tar stream that were written.
    var streamBytes: UInt64 { frames.streamBytes }

    /// The same after compression; a chunk that compression doesn't make smaller counts as it is.
    var compressedStreamBytes: UInt64 { frames.compressedStreamBytes }

    /// The bytes of frames that stayed where they were.
    var keptBytes: UInt64 { frames.keptBytes }

    /// Returns an empty chunk to fill.
    func takeChunk() -> FrameBuffer { buffers.take() }

    /// Hands over a full chunk, or the last one; waits while too many are under way.
    func submit(_ chunk: FrameBuffer) throws {
        guard submitted < ArchiveIndex.frameLimit else {
            throw ArchiveError(.unrepresentable, "an archive holds at most 1 TiB")
        }
        try step.submit(NumberedChunk(number: submitted, buffer: chunk))
        submitted += 1
    }

    /// Waits until everything is written; returns the index of the frames.
    func finish() throws -> ArchiveIndex {
        try step.settle()
        try frames.finish()
        return frames.index
    }

    /// Ends the work without finishing the archive.
    func abandon() { step.abandon() }
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
        /// It is in the output already, if all before it are.
        case kept
    }

    let listing: ArchiveIndex.Frame
    let digest: [UInt8]
    let buffer: FrameBuffer
    private let form: Form
    /// The frames that follow: the marks, and the table of large files.
    private let trailer: [UInt8]

    /// Hashes `chunk`, and makes no frame of it.
    init(hashing chunk: FrameBuffer) {
        form = .hashed
        trailer = []
        listing = ArchiveIndex.Frame(compressedSize: 0, size: UInt32(chunk.count))
        digest = SHA256Digest.hash(ofPiece: chunk)
        buffer = chunk
    }

    /// Makes no frame of `chunk`, because `piece` is what would come of it; `nil` if it is not.
    init?(keeping piece: ArchiveBeginning.Piece, of chunk: FrameBuffer) {
        guard piece.listing.size == UInt32(chunk.count) else { return nil }
        let trailer = (chunk.marks ?? []).encoded + chunk.table
        let digest = SHA256Digest.hash(ofPiece: chunk)
        guard digest == piece.digest, SHA256Digest.hash(of: trailer) == piece.trailerDigest else {
            return nil
        }
        form = .kept
        listing = piece.listing
        buffer = chunk
        (self.digest, self.trailer) = (digest, trailer)
    }

    /// Whether it is to stay where it is.
    var isKept: Bool {
        if case .kept = form { true } else { false }
    }

    /// Makes a frame of `chunk`, which goes back to `buffers` where the frame doesn't need it.
    init(
        of chunk: FrameBuffer,
        _ compression: Compression,
        with compressor: inout FrameCompressor,
        _ buffers: FrameBufferPool
    ) throws(ArchiveError) {
        let size = UInt32(chunk.count)
        digest = SHA256Digest.hash(ofPiece: chunk)
        trailer = (chunk.marks ?? []).encoded + chunk.table
        guard compression.isCompressible, !compressor.isIncompressible(chunk) else {
            let frame = StoredFrame(of: chunk)
            form = .stored(frame)
            let storedSize = UInt32(frame.size + trailer.count)
            listing = ArchiveIndex.Frame(compressedSize: storedSize, size: size)
            buffer = chunk
            return
        }
        buffer = buffers.take()
        try compressor.compress(chunk, into: buffer)
        form = .compressed
        let compressedSize = UInt32(buffer.count + trailer.count)
        listing = ArchiveIndex.Frame(compressedSize: compressedSize, size: size)
        buffers.keep(chunk)
    }

    func write(to output: ArchiveOutput) throws {
        switch form {
        case .compressed: try buffer.withContent { try output.write($0) }
        case .stored(let frame): try output.write(frame)
        case .hashed, .kept: return
        }
        try output.write(trailer.span)
    }
}

/// Writes frames and lists them.
///
/// Safe because the step calls it on one thread at a time, and its owner after the last frame; whether
/// something has differed is the only thing that other threads ask, under a lock.
private final class FrameWriter: @unchecked Sendable {
    private let output: ArchiveOutput?
    private let compression: Compression
    private let buffers: FrameBufferPool
    private let difference: Monitor<Bool>
    /// Where the frames end that are kept.
    private var end: UInt64
    private(set) var index: ArchiveIndex
    private(set) var streamBytes: UInt64 = 0
    private(set) var compressedStreamBytes: UInt64 = 0
    private(set) var keptBytes: UInt64 = 0

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

    /// Whether frames are written anew from some place on.
    var hasDiffered: Bool { difference.withLock { $0 } }

    func write(_ frame: CompressedFrame) throws {
        if frame.isKept, !hasDiffered {
            end += UInt64(frame.listing.compressedSize)
            keptBytes += UInt64(frame.listing.compressedSize)
            return list(frame)
        }
        try stopKeeping()
        guard frame.isKept else { return try put(frame) }
        // A frame before it differs, which was not known yet when another thread looked at it.
        var compressor = try FrameCompressor.make(level: compression.level)
        try put(CompressedFrame(of: frame.buffer, compression, with: &compressor, buffers))
    }

    /// Drops what the output holds behind the frames that are kept.
    func finish() throws { try stopKeeping() }

    private func stopKeeping() throws {
        if hasDiffered { return }
        difference.withLock { $0 = true }
        try output?.goOn(at: end)
    }

    private func put(_ frame: CompressedFrame) throws {
        if let output { try frame.write(to: output) }
        list(frame)
    }

    private func list(_ frame: CompressedFrame) {
        index.append(frame.listing, digest: frame.digest)
        streamBytes += UInt64(frame.listing.size)
        compressedStreamBytes += UInt64(min(frame.listing.size, frame.listing.compressedSize))
        buffers.keep(frame.buffer)
    }
}
