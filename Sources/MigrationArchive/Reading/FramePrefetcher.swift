internal import MigrationSystem

/// Reads a whole archive: the threads of an operation decompress frames ahead of the reader and check their contents,
/// which come in order.
///
/// From a pipe one thread at a time reads; from a file each thread reads its own frame.
final class FramePrefetcher: ChunkSource {
    /// The chunks that may be in use besides those that are read ahead.
    ///
    /// One is being read, and files are being written from another.
    private static let chunksInUse = 2

    private let source: FrameSource
    private let step: OrderedStep<SealedFrame, OpenedFrame>
    private let contents = FrameBufferPool()
    private var seen: ArchiveIndex
    private var seenTables: [EntryIndex.Table] = []

    /// The compressed bytes that were handed out so far.
    private(set) var compressedBytes: UInt64 = 0

    init(reading source: FrameSource, on operation: MigrationOperation) {
        self.source = source
        seen = ArchiveIndex(after: source.header)
        let contents = contents
        let compressed = FrameBufferPool()
        step = OrderedStep(
            of: operation,
            depth: operation.threadCount + Self.chunksInUse,
            ahead: operation.threadCount,
            source: { try source.nextFrame(into: compressed.take()) }
        ) {
            var decompressor = try FrameDecompressor.make()
            return { frame in
                defer { compressed.keep(frame.buffer) }
                return try source.open(frame, with: &decompressor, into: contents)
            }
        }
    }

    deinit { close() }

    func nextChunk() throws -> FrameBuffer? {
        guard let frame = try step.next() else {
            try checkIndex()
            return nil
        }
        if !source.isIndexed { seen.append(frame.listing, digest: frame.digest) }
        if let table = frame.table { seenTables.append(table) }
        compressedBytes += UInt64(frame.listing.compressedSize)
        return frame.content
    }

    func recycle(_ chunk: FrameBuffer) {
        contents.keep(chunk)
        step.release()
    }

    func close() { step.abandon() }

    /// The trailer at the archive's end; known once every frame was handed out.
    var index: ArchiveIndex? { source.index }

    /// The index of entries; known once every frame was handed out.
    var entryIndex: EntryIndex? { source.entryIndex }

    /// Throws unless the archive's end lists exactly the frames that were seen; those of pieces are compared
    /// one by one if the end is known from the start.
    private func checkIndex() throws {
        if let entryIndex = source.entryIndex, entryIndex.tables != seenTables {
            throw ArchiveError(.damaged, "the table of large files is not the one that was written")
        }
        guard !source.isIndexed, let index = source.index else { return }
        guard index.frames == seen.frames, index.digests == seen.digests else {
            throw ArchiveError(.damaged, "a piece is not the one that was written")
        }
    }
}

/// The content of a frame, with its hash.
private struct OpenedFrame: Sendable {
    let content: FrameBuffer
    let listing: ArchiveIndex.Frame
    let digest: [UInt8]
    /// The frame of the table of large files that follows it.
    let table: EntryIndex.Table?
}

extension ArchiveError {
    /// The content of frame `number` has the wrong hash.
    static func damagedPiece(_ number: Int) -> ArchiveError {
        ArchiveError(.damaged, "piece \(number) is not the one that was written")
    }
}

extension FrameSource {
    /// Decompresses a frame into one of `contents` and checks it against its hash.
    fileprivate func open(
        _ frame: SealedFrame,
        with decompressor: inout FrameDecompressor,
        into contents: FrameBufferPool
    ) throws -> OpenedFrame {
        try load(frame)
        let content = contents.take()
        let compressedSize = UInt32(frame.buffer.count)
        let digest = try decompressor.open(
            frame.buffer,
            into: content,
            contentSize: frame.contentSize
        )
        if let expected = expectedDigest(of: frame.number), expected != digest[...] {
            throw ArchiveError.damagedPiece(frame.number)
        }
        let listing = ArchiveIndex.Frame(
            compressedSize: compressedSize,
            size: UInt32(frame.contentSize)
        )
        let table = content.table
        let listedTable =
            table.isEmpty
            ? nil
            : EntryIndex.Table(
                piece: frame.number,
                size: table.count,
                digest: SHA256Digest.hash(of: table)
            )
        return OpenedFrame(
            content: content,
            listing: listing,
            digest: digest,
            table: listedTable
        )
    }
}
