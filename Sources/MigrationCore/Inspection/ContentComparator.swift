internal import MigrationArchive
internal import MigrationSystem

/// Compares the content of a file with expected content of the same size; the gaps are zeros.
struct ContentComparator {
    private static let bufferSize = 256 * 1024
    private static let zeros = [UInt8](repeating: 0, count: bufferSize)

    private let file: OpenFile
    private let size: UInt64
    private let step: () throws -> Void
    private var buffer: [UInt8]
    private var position: UInt64 = 0
    private var firstDifference: UInt64?

    /// Compares `file`, which has `size` bytes; `step` is called before each step.
    init(_ file: OpenFile, size: UInt64, _ step: @escaping () throws -> Void) {
        (self.file, self.size, self.step) = (file, size, step)
        buffer = [UInt8](repeating: 0, count: Int(min(size, UInt64(Self.bufferSize))))
    }

    /// The offset of the first byte that differs from the content of `other`.
    mutating func firstDifference(from other: OpenFile) throws -> UInt64? {
        var content = buffer
        while position < size, firstDifference == nil {
            try step()
            let wanted = Int(min(UInt64(content.count), size - position))
            let count = try other.descriptor.read(at: position, into: &content, count: wanted)
            guard count > 0 else { break }
            try compareNext(content.span.extracting(..<count))
        }
        return try finish()
    }

    /// The offset of the first byte that differs from the content of the current entry of `reader`.
    mutating func firstDifference(from reader: ArchiveReader) throws -> UInt64? {
        if let pieces = try reader.contentPieces() {
            try compare(pieces, of: reader)
        } else {
            try reader.readContent { try compare($1, at: $0) }
        }
        return try finish()
    }

    /// Reads only the pieces whose hashes differ; the threads of the operation read the file.
    private mutating func compare(_ pieces: ContentPieces, of reader: ArchiveReader) throws {
        var rest = pieces.numbers
        let file = file
        let held = OrderedStep<ContentPiece, Bool>(
            of: reader.operation,
            depth: 2 * reader.operation.threadCount,
            source: { rest.popFirst().map { pieces[$0] } }
        ) {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            return { try $0.holds(contentOf: file.descriptor, through: &buffer) }
        }
        try reader.readContent(passingOver: pieces) { piece in
            try step()
            if firstDifference != nil { return true }
            defer { held.release() }
            guard try held.next() ?? false else { return false }
            position = piece.offset + UInt64(piece.count)
            return true
        } _: { offset, piece in
            try compare(piece, at: offset)
        }
    }

    /// Compares `piece`, which belongs at `offset`.
    private mutating func compare(_ piece: Span<UInt8>, at offset: UInt64) throws {
        try step()
        try compareZeros(upTo: offset)
        try compareNext(piece)
    }

    private mutating func finish() throws(SystemError) -> UInt64? {
        try compareZeros(upTo: size)
        return firstDifference
    }

    /// Compares the bytes before `end` that no piece held with zeros.
    private mutating func compareZeros(upTo end: UInt64) throws(SystemError) {
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
