internal import MigrationArchive
internal import MigrationSystem

/// The source of an entry's content, to compare it with a file.
enum ComparedContent {
    case archive(ArchiveReader)
    /// A file in another directory; `nil` for an entry without content.
    case file(OpenFile?)

    /// The archive that the content is read from.
    var reader: ArchiveReader? {
        if case .archive(let reader) = self { reader } else { nil }
    }

    /// The offset of the first byte that differs in `file`; both have `size` bytes.
    ///
    /// `step` is called before each step.
    func firstDifference(
        from file: OpenFile,
        size: UInt64,
        _ step: () throws -> Void
    ) throws -> UInt64? {
        var comparator = ContentComparator(file, size: size)
        switch self {
        case .file(let other):
            try other?.readContent(size) { offset, piece in
                try step()
                try comparator.compare(piece, at: offset)
            }
        case .archive(let reader):
            try Self.comparePieces(of: reader, with: file, by: &comparator, step)
        }
        try comparator.compareZeros(upTo: size)
        return comparator.firstDifference
    }

    private static func comparePieces(
        of reader: ArchiveReader,
        with file: OpenFile,
        by comparator: inout ContentComparator,
        _ step: () throws -> Void
    ) throws {
        guard let pieces = try reader.contentPieces() else {
            return try reader.readContent { offset, piece in
                try step()
                try comparator.compare(piece, at: offset)
            }
        }
        let hashes = PieceHashes(pieces, of: file, on: reader.operation)
        try reader.readContent(passingOver: pieces) { piece in
            try step()
            if comparator.firstDifference != nil { return true }
            guard try hashes.next() else { return false }
            comparator.pass(upTo: piece.offset + UInt64(piece.count))
            return true
        } _: { offset, piece in
            try step()
            try comparator.compare(piece, at: offset)
        }
    }
}

extension OpenFile {
    /// Passes `size` bytes of the file to `body`, piece by piece.
    fileprivate func readContent(
        _ size: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        var buffer = [UInt8](repeating: 0, count: Int(min(size, 256 * 1024)))
        var position: UInt64 = 0
        while position < size {
            let count = Int(min(UInt64(buffer.count), size - position))
            let read = try descriptor.read(at: position, into: &buffer, count: count)
            guard read > 0 else { return }
            try body(position, buffer.span.extracting(..<read))
            position += UInt64(read)
        }
    }
}

/// Compares a file with pieces of an archive by their hashes, in their order; the threads of an operation read
/// the file.
private struct PieceHashes {
    private static let bufferSize = 256 * 1024

    private let step: OrderedStep<ContentPiece, Bool>

    init(_ pieces: ContentPieces, of file: OpenFile, on operation: MigrationOperation) {
        var rest = pieces.numbers
        step = OrderedStep(
            of: operation,
            depth: 2 * operation.threadCount,
            source: { rest.popFirst().map { pieces[$0] } }
        ) {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            return { try $0.holds(contentOf: file.descriptor, through: &buffer) }
        }
    }

    /// Returns whether the file holds the content of the next piece; `false` after the last.
    func next() throws -> Bool {
        defer { step.release() }
        return try step.next() ?? false
    }
}

/// Compares the content of a file with pieces of the expected content; the gaps are zeros.
private struct ContentComparator {
    private static let zeros = [UInt8](repeating: 0, count: 256 * 1024)

    private let file: OpenFile
    private var buffer: [UInt8]
    private var position: UInt64 = 0

    /// The offset of the first difference so far.
    private(set) var firstDifference: UInt64?

    /// Compares `file`, which has `size` bytes.
    init(_ file: OpenFile, size: UInt64) {
        self.file = file
        buffer = [UInt8](repeating: 0, count: Int(min(size, 256 * 1024)))
    }

    /// Compares `piece`, which belongs at `offset`.
    mutating func compare(_ piece: Span<UInt8>, at offset: UInt64) throws(SystemError) {
        try compareZeros(upTo: offset)
        try compareNext(piece)
    }

    /// Continues at `end`, because everything before it is equal.
    mutating func pass(upTo end: UInt64) { position = end }

    /// Compares the bytes before `end` that no piece held with zeros.
    mutating func compareZeros(upTo end: UInt64) throws(SystemError) {
        while position < end, firstDifference == nil {
            let count = Int(min(UInt64(Self.zeros.count), end - position))
            try compareNext(Self.zeros.span.extracting(first: count))
        }
    }

    /// Compares the file with `piece` from the position on; the end of a short file is a difference.
    private mutating func compareNext(_ piece: Span<UInt8>) throws(SystemError) {
        var done = 0
        while done < piece.count, firstDifference == nil {
            let wanted = min(buffer.count, piece.count - done)
            let count = try file.descriptor.read(at: position, into: &buffer, count: wanted)
            let equal = buffer.span.extracting(first: count)
                .commonPrefix(with: piece.extracting(droppingFirst: done))
            if equal < max(1, count) { firstDifference = position + UInt64(equal) }
            done += count
            position += UInt64(count)
        }
    }
}
