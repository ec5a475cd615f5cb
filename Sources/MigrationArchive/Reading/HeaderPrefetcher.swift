internal import MigrationSystem

/// Reads an archive file for a list of its entries, with a thread that opens pieces ahead of the reader.
///
/// The thread opens the pieces in which entries begin that the table of large files does not hold. Others are
/// read when they are asked for.
final class HeaderPrefetcher: ChunkSource {
    private typealias Pipeline = OrderedPipeline<Place, OpenedPiece>

    /// Where a piece lies in the archive.
    private struct Place: Sendable {
        let number: Int
        let offset: UInt64
    }

    private struct OpenedPiece: Sendable {
        let number: Int
        let content: FrameBuffer
    }

    /// The pieces that wait for the reader, beside the one that it reads.
    private static let depth = 2

    private let input: ArchiveInput
    private let header: HeaderFrame
    private let index: ArchiveIndex
    private let table: LargeFileTable
    private let seeker: FrameSeeker
    private let contents = FrameBufferPool()
    /// Started with the first piece.
    private var pipeline: Pipeline?
    /// A piece that lies behind the one that was asked for last.
    private var waiting: OpenedPiece?

    init(
        reading input: ArchiveInput,
        after header: HeaderFrame,
        index: ArchiveIndex,
        table: LargeFileTable
    ) throws(ArchiveError) {
        self.input = input
        self.header = header
        self.index = index
        self.table = table
        seeker = try FrameSeeker(reading: input, after: header, index: index)
    }

    deinit { close() }

    func nextChunk() throws -> FrameBuffer? {
        let number = seeker.next
        let pipeline = try pipeline ?? start()
        while let piece = try waiting.take() ?? pipeline.next() {
            guard piece.number <= number else {
                waiting = piece
                break
            }
            pipeline.release()
            if piece.number == number {
                seeker.passFrame()
                return piece.content
            }
            contents.keep(piece.content)
        }
        return try seeker.nextChunk()
    }

    private func start() throws -> Pipeline {
        let (input, index, contents) = (input, index, contents)
        var places = Self.places(of: try table.index(), in: index, after: header)[...]
        let pipeline = try ArchiveError.startingThreads {
            try Pipeline(
                named: "migration-list",
                threadCount: 1,
                depth: Self.depth,
                cancellation: input.cancellation,
                source: { places.popFirst() }
            ) {
                let opener = try PieceOpener(reading: input, index: index)
                return { place in
                    let content = contents.take()
                    try opener.open(place.number, at: place.offset, into: content)
                    return OpenedPiece(number: place.number, content: content)
                }
            }
        }
        self.pipeline = pipeline
        return pipeline
    }

    private static func places(
        of entries: EntryIndex,
        in index: ArchiveIndex,
        after header: HeaderFrame
    ) -> [Place] {
        var places: [Place] = []
        var offset = UInt64(header.bytes.count)
        for (number, frame) in index.frames.enumerated() {
            if !entries.isListed(piece: number) {
                places.append(Place(number: number, offset: offset))
            }
            offset += UInt64(frame.compressedSize)
        }
        return places
    }

    func recycle(_ chunk: FrameBuffer) { contents.keep(chunk) }

    func skip(_ count: UInt64) -> UInt64 { seeker.skip(count) }

    func seek(to offset: UInt64) -> UInt64? { seeker.seek(to: offset) }

    func close() { pipeline?.abandon() }
}
