internal import MigrationSystem

/// Reads a whole archive: several threads check and decompress frames ahead of the reader, who gets
/// their contents in order.
///
/// From a pipe one thread at a time reads; from a file each thread reads its own frame.
final class FramePrefetcher: ChunkSource {
    /// The work on frames besides checking their hashes.
    enum Purpose {
        case decompress
        /// The content is not needed; chunks come out empty.
        case verify
    }

    /// The chunks that may be in use on top of those that are read ahead.
    ///
    /// One is under the reader's cursor, and the files of another are being made.
    private static let chunksInUse = 2

    private let source: FrameSource
    private let pipeline: OrderedPipeline<SealedFrame, OpenedFrame>
    private let contents = FrameBufferPool()
    private var seen = ArchiveIndex()

    /// The compressed bytes that were handed out so far.
    private(set) var compressedBytes: UInt64 = 0

    init(
        reading source: FrameSource,
        for purpose: Purpose,
        threadCount: Int,
        cancellation: CancellationFlag
    ) throws {
        self.source = source
        let contents = contents
        let compressed = FrameBufferPool()
        pipeline = try ArchiveError.startingThreads {
            try OrderedPipeline(
                named: "migration-read",
                threadCount: threadCount,
                depth: threadCount + Self.chunksInUse,
                ahead: threadCount,
                cancellation: cancellation,
                source: { try source.nextFrame(into: compressed.take()) }
            ) {
                var decompressor = try FrameDecompressor.make()
                return { frame in
                    defer { compressed.keep(frame.buffer) }
                    return try source.open(frame, for: purpose, with: &decompressor, contents)
                }
            }
        }
    }

    deinit { close() }

    func nextChunk() throws -> FrameBuffer? {
        guard let frame = try pipeline.next() else {
            try checkIndex()
            return nil
        }
        if !source.isIndexed { seen.append(frame.listing, digest: frame.digest) }
        compressedBytes += UInt64(frame.listing.compressedSize)
        return frame.content
    }

    func recycle(_ chunk: FrameBuffer) {
        contents.keep(chunk)
        pipeline.release()
    }

    func close() { pipeline.abandon() }

    /// The trailer at the archive's end; known once every frame was handed out.
    var index: ArchiveIndex? { source.index }

    /// The index of entries; known once every frame was handed out.
    var entryIndex: EntryIndex? { source.entryIndex }

    /// Throws unless the archive's end lists exactly the frames that were seen, which are compared one
    /// by one where the end is known from the start.
    private func checkIndex() throws {
        guard !source.isIndexed, let index = source.index else { return }
        guard index.frames == seen.frames, index.digests == seen.digests else {
            throw ArchiveError(.damaged, "a frame is not the one that was written")
        }
    }
}

/// The content of a frame that passed its checks.
private struct OpenedFrame: Sendable {
    let content: FrameBuffer
    let listing: ArchiveIndex.Frame
    let digest: [UInt8]
}

extension FrameSource {
    /// Checks a frame against its hash and decompresses it into one of `contents`.
    fileprivate func open(
        _ frame: SealedFrame,
        for purpose: FramePrefetcher.Purpose,
        with decompressor: inout FrameDecompressor,
        _ contents: FrameBufferPool
    ) throws -> OpenedFrame {
        try load(frame)
        let digest = SHA256Digest.hash(of: frame.buffer)
        if let expected = expectedDigest(of: frame.number), expected != digest[...] {
            let message = "frame \(frame.number) is not the one that was written"
            throw ArchiveError(.damaged, message)
        }
        let content = contents.take()
        if purpose == .decompress {
            try decompressor.decompress(
                frame.buffer,
                into: content,
                contentSize: frame.contentSize
            )
        }
        let listing = ArchiveIndex.Frame(
            compressedSize: UInt32(frame.buffer.count),
            size: UInt32(frame.contentSize)
        )
        return OpenedFrame(content: content, listing: listing, digest: digest)
    }
}
