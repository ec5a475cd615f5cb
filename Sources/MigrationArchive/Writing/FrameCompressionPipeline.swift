internal import MigrationSystem

/// Hashes and compresses chunks on several threads and writes the frames in the chunks' order.
///
/// The hashes depend on the chunks alone. Without an output the chunks are hashed only.
final class FrameCompressionPipeline {
    private let buffers = FrameBufferPool()
    private let frames: FrameWriter
    private let pipeline: OrderedPipeline<FrameBuffer, CompressedFrame>
    private var submitted = 0

    init(
        writingTo output: ArchiveOutput?,
        after header: HeaderFrame,
        level: Int,
        isCompressible: Bool,
        threadCount: Int,
        cancellation: CancellationFlag
    ) throws {
        let buffers = buffers
        let frames = FrameWriter(to: output, after: header, recyclingTo: buffers)
        self.frames = frames
        pipeline = try ArchiveError.startingThreads {
            try OrderedPipeline(
                named: "migration-compress",
                threadCount: threadCount,
                depth: threadCount,
                cancellation: cancellation,
                sink: frames.write
            ) {
                guard output != nil else { return { CompressedFrame(hashing: $0) } }
                var compressor = try FrameCompressor.make(level: level)
                return { chunk in
                    try CompressedFrame(of: chunk, isCompressible, with: &compressor, buffers)
                }
            }
        }
    }

    /// The bytes of the tar stream that were written.
    var streamBytes: UInt64 { frames.streamBytes }

    /// The same after compression; a chunk that compression doesn't make smaller counts as it is.
    var compressedStreamBytes: UInt64 { frames.compressedStreamBytes }

    /// Returns an empty chunk to fill.
    func takeChunk() -> FrameBuffer { buffers.take() }

    /// Hands over a full chunk, or the last one; waits while too many are under way.
    func submit(_ chunk: FrameBuffer) throws {
        guard submitted < ArchiveIndex.frameLimit else {
            throw ArchiveError(.unrepresentable, "an archive holds at most 1 TiB")
        }
        try pipeline.submit(chunk)
        submitted += 1
    }

    /// Waits until everything is written; returns the index of the frames.
    func finish() throws -> ArchiveIndex {
        try pipeline.finish()
        return frames.index
    }

    /// Ends the threads without finishing the archive.
    func abandon() { pipeline.abandon() }
}

/// A frame of an archive, in the buffer that holds its bytes until it is written.
private struct CompressedFrame: Sendable {
    private enum Form {
        case compressed
        case stored(StoredFrame)
        /// There is nothing to write.
        case hashed
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

    /// Makes a frame of `chunk`, which goes back to `buffers` where the frame doesn't need it.
    init(
        of chunk: FrameBuffer,
        _ isCompressible: Bool,
        with compressor: inout FrameCompressor,
        _ buffers: FrameBufferPool
    ) throws(ArchiveError) {
        let size = UInt32(chunk.count)
        digest = SHA256Digest.hash(ofPiece: chunk)
        trailer = (chunk.marks ?? []).encoded + chunk.table
        guard isCompressible, !compressor.isIncompressible(chunk) else {
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
        case .hashed: return
        }
        try output.write(trailer.span)
    }
}

/// Writes frames and lists them.
///
/// Safe because the pipeline calls it on one thread at a time, and its owner after the last frame.
private final class FrameWriter: @unchecked Sendable {
    private let output: ArchiveOutput?
    private let buffers: FrameBufferPool
    private(set) var index: ArchiveIndex
    private(set) var streamBytes: UInt64 = 0
    private(set) var compressedStreamBytes: UInt64 = 0

    init(
        to output: ArchiveOutput?,
        after header: HeaderFrame,
        recyclingTo buffers: FrameBufferPool
    ) {
        self.output = output
        index = ArchiveIndex(after: header)
        self.buffers = buffers
    }

    func write(_ frame: CompressedFrame) throws {
        if let output { try frame.write(to: output) }
        index.append(frame.listing, digest: frame.digest)
        streamBytes += UInt64(frame.listing.size)
        compressedStreamBytes += UInt64(min(frame.listing.size, frame.listing.compressedSize))
        buffers.keep(frame.buffer)
    }
}
