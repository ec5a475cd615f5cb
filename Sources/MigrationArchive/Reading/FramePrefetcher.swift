internal import MigrationSystem

/// Reads a whole archive: frames are read in order, checked and decompressed by several threads
/// ahead of the reader, and handed out in order.
final class FramePrefetcher: ChunkSource {
    private let pipeline: FrameReadingPipeline
    private let workers: WorkerThreads
    private var isClosed = false

    init(
        reading source: FrameSource,
        for purpose: FrameReadingPipeline.Purpose,
        threadCount: Int,
        cancellation: CancellationFlag
    ) throws {
        let pipeline = FrameReadingPipeline(
            source: source,
            purpose: purpose,
            depth: threadCount,
            cancellation: cancellation
        )
        self.pipeline = pipeline
        workers = try ArchiveError.startingThreads { () throws(SystemError) in
            try WorkerThreads(count: threadCount, named: "migration-read") { pipeline.work() }
        }
    }

    deinit {
        close()
    }

    func nextChunk() throws -> FrameBuffer? {
        try pipeline.takeNext()
    }

    func recycle(_ chunk: FrameBuffer) {
        pipeline.recycle(chunk)
    }

    func close() {
        if isClosed { return }
        isClosed = true
        pipeline.stop()
        workers.join()
    }

    /// The compressed bytes that were handed out so far.
    var compressedBytes: UInt64 { pipeline.compressedBytes }

    /// What the archive's end says, once every frame was handed out.
    var index: ArchiveIndex? { pipeline.index }

    /// What the archive says of where its entries are, once every frame was handed out.
    var entryIndex: EntryIndex? { pipeline.entryIndex }
}
