internal import MigrationSystem

/// Reads pieces of an archive file that are asked for, while the threads of an operation open those ahead of
/// the reader that it will need.
///
/// Other pieces are read when they are asked for.
final class PiecePrefetcher: ChunkSource {
    /// The pieces that are opened ahead.
    enum Selection {
        /// For a list: those in which an entry begins that isn't in the table of large files.
        case headers
        /// For all entries: those that hold more than content.
        case entries
    }

    /// Where a piece lies in the archive.
    private struct Place: Sendable {
        let number: Int
        let offset: UInt64
    }

    private struct OpenedPiece: Sendable {
        let number: Int
        let content: FrameBuffer
    }

    private let input: ArchiveInput
    private let header: HeaderFrame
    private let index: ArchiveIndex
    private let table: LargeFileTable
    private let selection: Selection
    private let seeker: FrameSeeker
    private let contents = FrameBufferPool()
    /// Started with the first piece.
    private var step: OrderedStep<Place, OpenedPiece>?
    /// A piece after the one that was asked for last.
    private var waiting: OpenedPiece?

    init(
        reading input: ArchiveInput,
        after header: HeaderFrame,
        index: ArchiveIndex,
        table: LargeFileTable,
        ahead selection: Selection
    ) throws(ArchiveError) {
        self.input = input
        self.header = header
        self.index = index
        self.table = table
        self.selection = selection
        seeker = try FrameSeeker(reading: input, after: header, index: index, into: contents)
    }

    deinit { close() }

    func nextChunk() throws -> FrameBuffer? {
        let step = try startedStep()
        let number = seeker.next
        while let piece = try waiting.take() ?? step.next() {
            guard piece.number <= number else {
                waiting = piece
                break
            }
            step.release()
            if piece.number == number {
                seeker.passFrame()
                return piece.content
            }
            contents.keep(piece.content)
        }
        return try seeker.nextChunk()
    }

    private func startedStep() throws -> OrderedStep<Place, OpenedPiece> {
        if let step { return step }
        let (input, index, contents) = (input, index, contents)
        let entries = try table.index()
        let tables = selection == .entries ? entries.tables : nil
        var places = places(by: entries)[...]
        let started = OrderedStep<Place, OpenedPiece>(
            of: input.operation,
            // The reader has one piece, and each thread opens another.
            depth: input.operation.threadCount + 1,
            source: { places.popFirst() }
        ) {
            let opener = try PieceOpener(reading: input, index: index)
            return { place in
                let content = contents.take()
                try opener.open(place.number, at: place.offset, into: content)
                if let tables { try content.checkTable(ofPiece: place.number, in: tables) }
                return OpenedPiece(number: place.number, content: content)
            }
        }
        step = started
        return started
    }

    private func places(by entries: EntryIndex) -> [Place] {
        var places: [Place] = []
        var offset = UInt64(header.bytes.count)
        for (number, frame) in index.frames.enumerated() {
            if isOpenedAhead(number, entries) {
                places.append(Place(number: number, offset: offset))
            }
            offset += UInt64(frame.compressedSize)
        }
        return places
    }

    private func isOpenedAhead(_ number: Int, _ entries: EntryIndex) -> Bool {
        switch selection {
        case .headers: !entries.isListed(piece: number)
        // The last piece holds the end of the stream.
        case .entries:
            entries.firstEntry(inPiece: number) != nil || number == index.frames.count - 1
        }
    }

    func recycle(_ chunk: FrameBuffer) { contents.keep(chunk) }

    func skip(_ count: UInt64) -> UInt64 { seeker.skip(count) }

    func seek(to offset: UInt64) -> UInt64? { seeker.seek(to: offset) }

    var archivePosition: UInt64? { seeker.archivePosition }

    func close() { step?.abandon() }
}

extension FrameBuffer {
    /// Throws unless the frame of the table of large files after the piece is the listed one.
    fileprivate func checkTable(
        ofPiece number: Int,
        in tables: [EntryIndex.Table]
    ) throws(ArchiveError) {
        let next = LargeFileTable.table(of: number, in: tables).map { tables[$0] }
        let listed = next.flatMap { $0.piece == number ? $0 : nil }
        guard listed?.size ?? 0 == table.count,
            listed.map({ $0.digest == SHA256Digest.hash(of: table) }) ?? true
        else {
            throw ArchiveError(.damaged, "the table of large files is not the one that was written")
        }
    }
}
