internal import CZstd
internal import MigrationSystem

/// Finds the frames of a migration archive's pieces in a pipe, by walking their blocks (RFC 8878, 3.1.1), and reads
/// the archive's end.
///
/// Safe because one thread at a time asks for the next frame, and looks at the end after the last one.
final class FrameSource: @unchecked Sendable {
    private let input: ArchiveInput
    /// The frame that the archive begins with.
    private let header: HeaderFrame
    private let frameLimit: Int
    private var frameCount = 0

    /// The archive's end, once it was read.
    private(set) var end: (index: ArchiveIndex, entries: EntryIndex)?

    /// Reads the part of `input` after `header`.
    init(
        reading input: ArchiveInput,
        after header: HeaderFrame,
        frameLimit: Int = ArchiveIndex.frameLimit
    ) {
        self.input = input
        self.header = header
        self.frameLimit = frameLimit
    }

    /// Reads the next data frame, with what follows it, into `buffer`; returns the bytes of its content, or `nil`
    /// after the last one and the archive's end.
    func nextFrame(into buffer: FrameBuffer) throws -> Int? {
        guard try frameHead().magic != FrameFormat.entryIndexMagic else {
            try readEnd(of: nil)
            return nil
        }
        guard frameCount < frameLimit else {
            throw ArchiveError(.damaged, "the archive has more frames than there can be")
        }
        buffer.count = 0
        let (_, contentSize) = try FrameWalk.walk(buffer) { try read(upTo: $0, into: buffer) }
        try readExtraFrames(into: buffer)
        frameCount += 1
        return contentSize
    }

    /// Reads the end of an archive file again, which must still match `index`.
    func readEnd(of index: ArchiveIndex) throws {
        frameCount = index.frames.count
        input.seek(to: index.compressedBytes - UInt64(index.entryIndexSize))
        try readEnd(of: .some(index))
    }

    /// Peeks at the first bytes of a frame: the magic, and the size of a skippable frame.
    private func frameHead() throws -> (magic: UInt32, size: UInt32) {
        guard try input.lookAhead(8) >= 8 else {
            throw ArchiveError.cutShort
        }
        let bytes = [UInt8](input.ahead.prefix(8))
        return (bytes.littleEndian(at: 0), bytes.littleEndian(at: 4))
    }

    /// Reads the marks of entries and the table of large files, if they come next.
    private func readExtraFrames(into buffer: FrameBuffer) throws {
        var head = try frameHead()
        if head.magic == FrameFormat.marksMagic {
            let size = EntryMark.frameHeadSize + Int(head.size)
            guard size <= EntryMark.frameSizeLimit else {
                throw ArchiveError(.damaged, "more entries are marked than can begin in a piece")
            }
            try read(upTo: buffer.count + size, into: buffer)
            head = try frameHead()
        }
        guard head.magic == FrameFormat.tableMagic else { return }
        let size = LargeFile.frameHeadSize + Int(head.size)
        guard size <= LargeFile.frameSizeLimit else { throw LargeFile.damage }
        try read(upTo: buffer.count + size, into: buffer)
    }

    private func readEntryIndex() throws -> [UInt8] {
        let size = Int(try frameHead().size) + 8
        guard size <= EntryIndex.sizeLimit(frameCount: frameCount) else {
            throw ArchiveError(.damaged, "the index of entries is larger than it can be")
        }
        var bytes = [UInt8](repeating: 0, count: size)
        try input.readExactly(into: &bytes, from: 0, count: size)
        return bytes
    }

    private func readEnd(of known: ArchiveIndex?) throws {
        let entries = try readEntryIndex()
        let size = ArchiveIndex.endSize(frameCount: frameCount)
        var bytes = [UInt8](repeating: 0, count: size)
        try input.readExactly(into: &bytes, from: 0, count: size)
        guard try input.lookAhead(1) == 0 else {
            throw ArchiveError(.damaged, "bytes follow the end of the archive")
        }
        let index = try known ?? ArchiveIndex(parsing: bytes, after: header)
        guard index.isEncoded(as: bytes) else {
            throw ArchiveError(.damaged, "the archive changed while it was read")
        }
        end = (index, try EntryIndex(parsing: entries, listedIn: index))
    }

    private func read(upTo end: Int, into buffer: FrameBuffer) throws {
        try input.readExactly(into: &buffer.bytes, from: buffer.count, count: end - buffer.count)
        buffer.count = end
    }
}

// MARK: - Walking a frame

/// Finds the end of a data frame by its header and its blocks, and refuses forms that archives don't use.
enum FrameWalk {
    /// Walks the frame at the start of `buffer`; `provide` makes its bytes up to an index
    /// available.
    ///
    /// - Returns: The end of the frame, and its claimed content size.
    static func walk(
        _ buffer: FrameBuffer,
        _ provide: (_ end: Int) throws -> Void
    ) throws -> (end: Int, contentSize: Int) {
        var end = 0
        func take(_ count: Int) throws {
            let limit = FrameFormat.largestCompressedSize - FrameFormat.largestExtraFramesSize
            guard end + count <= limit else {
                throw ArchiveError(.damaged, "a frame is larger than frames can be")
            }
            end += count
            try provide(end)
        }
        try take(5)
        guard buffer.bytes.littleEndian(at: 0) == FrameFormat.zstdMagic else {
            throw ArchiveError(.damaged, "a frame does not begin with a frame's magic number")
        }
        guard let rest = restOfHeader(descriptor: buffer.bytes[4]) else { throw unusualForm }
        try take(rest)
        let contentSize = unsafe buffer.bytes.withUnsafeBytes { bytes in
            unsafe ZSTD_getFrameContentSize(bytes.baseAddress, end)
        }
        // The number for an error, such as a window that is larger than zstd allows.
        guard contentSize < UInt64.max - 1 else { throw unusualForm }
        guard contentSize <= UInt64(FrameFormat.chunkSize) else {
            throw ArchiveError(.damaged, "a frame claims more content than frames have")
        }
        var isLast = false
        while !isLast {
            try take(3)
            // A header has three bytes (RFC 8878, 3.1.1.2); the fourth one comes after it.
            let header = buffer.bytes.littleEndian(at: end - 3, as: UInt32.self) & 0xFF_FFFF
            // A block that repeats a byte holds only that one.
            try take(header >> 1 & 3 == 1 ? 1 : Int(header >> 3))
            isLast = header & 1 == 1
        }
        try take(4)
        return (end, Int(contentSize))
    }

    /// The bytes of a frame's header after its descriptor (RFC 8878, 3.1.1.1); `nil` unless the frame has its
    /// content size and a checksum, but no dictionary.
    ///
    /// A single-segment frame has no window descriptor, because its window is its content.
    private static func restOfHeader(descriptor: UInt8) -> Int? {
        guard descriptor & 0b0001_1111 == 0b0000_0100 else { return nil }
        let isOneSegment = descriptor & 0b0010_0000 != 0
        let sizeCode = Int(descriptor >> 6)
        guard isOneSegment || sizeCode > 0 else { return nil }
        return (isOneSegment ? 0 : 1) + (1 << sizeCode)
    }

    /// Finds the end of the frame that `buffer` begins with, which must be of the form that archives
    /// use, and claim `contentSize` bytes of content.
    static func end(of buffer: FrameBuffer, contentSize: Int) throws(ArchiveError) -> Int {
        do {
            let walked = try walk(buffer) { end in
                guard end <= buffer.count else { throw unusualForm }
            }
            guard walked.contentSize == contentSize else { throw unusualForm }
            return walked.end
        } catch {
            throw error as? ArchiveError ?? unusualForm
        }
    }

    private static let unusualForm = ArchiveError(
        .damaged,
        "a frame is not in the form that archives use"
    )
}
