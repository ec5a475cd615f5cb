internal import MigrationSystem

/// A tar stream with a cursor: headers are read block by block, contents in place.
final class TarStream {
    private let source: any ChunkSource
    /// The bytes of the stream before those of the source.
    private let base: UInt64
    private var chunk: StreamChunk?
    private var index = 0
    /// How many marks of the chunk were taken.
    private var markIndex = 0

    /// How many bytes of the stream precede the cursor.
    private(set) var offset: UInt64

    /// Reads the stream from `base` on, where `source` begins.
    init(_ source: any ChunkSource, from base: UInt64 = 0) {
        self.source = source
        self.base = base
        offset = base
    }

    deinit {
        source.close()
    }

    /// The size of the whole stream, if it is known beforehand.
    var size: UInt64? { source.streamSize.map { base + $0 } }

    /// Makes a byte available at the cursor; returns `false` at the end of the stream.
    private func fill() throws -> Bool {
        while true {
            if let chunk {
                if index < chunk.buffer.count { return true }
                guard markIndex == chunk.buffer.marks?.count ?? 0 else { throw wrongMarks }
                self.chunk = nil
            }
            guard let next = try nextChunk() else { return false }
            chunk = StreamChunk(next, from: source)
            (index, markIndex) = (0, 0)
        }
    }

    private func nextChunk() throws -> FrameBuffer? {
        do {
            return try source.nextChunk()
        } catch let error as ArchiveError {
            throw error.located(at: offset)
        }
    }

    /// Reads the next block; `nil` at the end of the stream.
    ///
    /// With `padding`, a last block that is too short is padded with zeros.
    func readBlock(padding: Bool = false) throws -> UstarBlock? {
        guard try fill() else { return nil }
        var block = UstarBlock()
        var done = 0
        while done < TarFormat.blockSize {
            guard try fill(), let chunk else {
                if padding { return block }
                throw ArchiveError(.truncated, "the tar stream ends in a header", offset: offset)
            }
            let count = min(chunk.buffer.count - index, TarFormat.blockSize - done)
            let bytes = chunk.buffer.bytes
            block.copy(bytes.span.extracting(index..<index + count), to: done)
            advance(count)
            done += count
        }
        return block
    }

    /// Passes the next block to `body` with its mark, and takes both if it returns a result; `nil`
    /// if it doesn't, or if the block isn't completely in one chunk.
    func takeBlock<Result>(_ body: (Span<UInt8>, EntryMark?) -> Result?) throws -> Result? {
        guard try fill(), let chunk, chunk.buffer.count - index >= TarFormat.blockSize else {
            return nil
        }
        var mark: EntryMark?
        if let marks = chunk.buffer.marks {
            guard markIndex < marks.count else { return nil }
            mark = marks[markIndex]
        }
        let bytes = chunk.buffer.bytes
        let block = bytes.span.extracting(index..<index + TarFormat.blockSize)
        guard let result = body(block, mark) else { return nil }
        markIndex += mark == nil ? 0 : 1
        advance(TarFormat.blockSize)
        return result
    }

    /// Takes the mark of the entry whose first block was just read; `nil` if the source has no marks.
    func takeMark() throws(ArchiveError) -> EntryMark? {
        guard let marks = chunk?.buffer.marks else { return nil }
        guard markIndex < marks.count else { throw wrongMarks }
        defer { markIndex += 1 }
        return marks[markIndex]
    }

    private var wrongMarks: ArchiveError {
        let message = "times are listed of more or fewer entries than there are"
        return ArchiveError(.damaged, message, offset: offset)
    }

    /// Passes the next `count` bytes to `body`, in the pieces in which they are in memory.
    func read(_ count: UInt64, _ body: (Span<UInt8>) throws -> Void) throws {
        var rest = count
        while rest > 0 {
            let slice = try takeSlice(rest)
            let bytes = slice.chunk.buffer.bytes
            try body(bytes.span.extracting(slice.range))
            rest -= UInt64(slice.count)
        }
    }

    /// Takes those of the next `count` bytes that are in one chunk, without copying them.
    func takeSlice(_ count: UInt64) throws -> ContentSlice {
        let hasBytes = try count == 0 || fill()
        guard hasBytes, let chunk else {
            throw ArchiveError(.truncated, "the tar stream ends in an entry", offset: offset)
        }
        let start = index
        advance(Int(min(UInt64(chunk.buffer.count - index), count)))
        return ContentSlice(chunk: chunk, range: start..<index)
    }

    /// Reads the next `count` bytes at once; the caller limits `count`.
    func readBytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        try read(UInt64(count)) { bytes.append(copying: $0) }
        return bytes
    }

    /// Moves the cursor over the next `count` bytes.
    func skip(_ count: UInt64) throws {
        var rest = count
        if let chunk {
            let size = Int(min(UInt64(chunk.buffer.count - index), rest))
            advance(size)
            rest -= UInt64(size)
        }
        if rest > 0, let start = source.seek(to: offset + rest - base).map({ base + $0 }),
            start > offset
        {
            if let chunk, markIndex != chunk.buffer.marks?.count ?? 0 { throw wrongMarks }
            rest -= start - offset
            (chunk, offset) = (nil, start)
        }
        try read(rest) { _ in }
    }

    /// Moves the cursor to `target`, which may be before it; returns `false` if it can't be moved.
    ///
    /// If marks are to be taken, an entry must begin there, after `marksTaken` others in its chunk.
    func seek(to target: UInt64, marksTaken: Int = 0) throws -> Bool {
        if let chunk {
            let start = offset - UInt64(index)
            if target >= start, target - start < UInt64(chunk.buffer.count) {
                (index, offset, markIndex) = (Int(target - start), target, marksTaken)
                return true
            }
        }
        guard target >= base, let start = source.seek(to: target - base).map({ base + $0 }) else {
            return false
        }
        (chunk, index, offset, markIndex) = (nil, 0, start, 0)
        try read(target - start) { _ in }
        markIndex = marksTaken
        return true
    }

    /// Moves the cursor over bytes that must be zeros.
    func skipZeros(_ count: UInt64) throws -> Bool {
        var areZeros = true
        try read(count) { piece in
            areZeros = areZeros && ZeroPageCounter.isZero(piece)
        }
        return areZeros
    }

    /// Whether nothing follows the cursor.
    func isAtEnd() throws -> Bool {
        try !fill()
    }

    private func advance(_ count: Int) {
        index += count
        offset += UInt64(count)
    }
}
