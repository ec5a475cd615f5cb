internal import CZstd
internal import MigrationSystem

/// The constants of the frames that an archive is made of (RFC 8878, and the zstd seekable format).
enum FrameFormat {
    /// The bytes of the tar stream in every data frame except the last, which holds the rest.
    static let chunkSize = 4 << 20

    /// The largest size of a compressed frame, with the frames that belong to it.
    static let largestCompressedSize =
        ZSTD_compressBound(chunkSize) + 1024 + largestExtraFramesSize

    /// The largest size of the frames that follow a piece's: its marks, and the table of large
    /// files.
    static let largestExtraFramesSize = EntryMark.frameSizeLimit + LargeFile.frameSizeLimit

    /// The first four bytes of a zstd frame, little-endian.
    static let zstdMagic: UInt32 = 0xFD2F_B528

    /// The first of the sixteen magics of skippable frames.
    static let skippableMagic: UInt32 = 0x184D_2A50

    /// The magic of the skippable frames that hold the table of large files.
    static let tableMagic: UInt32 = 0x184D_2A5A

    /// The magic of the skippable frames that hold the marks of entries.
    static let marksMagic: UInt32 = 0x184D_2A5B

    /// The magic of the skippable frame that holds the index of entries.
    static let entryIndexMagic: UInt32 = 0x184D_2A5C

    /// The magic of the skippable frame that holds the hashes.
    static let integrityMagic: UInt32 = 0x184D_2A5D

    /// The magic of the skippable frame that holds the seek table.
    static let seekTableMagic: UInt32 = 0x184D_2A5E

    /// The last four bytes of a seek table, little-endian.
    static let seekTableFooterMagic: UInt32 = 0x8F92_EAB1

    /// The size of the footer that ends a seek table.
    static let seekTableFooterSize = 9

    /// The largest window that another program's frame may request, as a power of two.
    static let windowLogLimit = 27
}

/// zstd's name for the error in `result`.
func zstdErrorName(_ result: Int) -> String {
    unsafe String(cString: ZSTD_getErrorName(result))
}

// MARK: - Room for a frame

/// A buffer for one frame, compressed or not, that passes from stage to stage and is reused.
///
/// Safe because one stage at a time owns a buffer: it is handed on under a lock, never shared.
final class FrameBuffer: @unchecked Sendable {
    /// The bytes; only the first `count` are content, and the rest uses no memory until it is
    /// written.
    var bytes = unsafe [UInt8](unsafeUninitializedCapacity: FrameFormat.largestCompressedSize) {
        _,
        count in count = FrameFormat.largestCompressedSize
    }
    var count = 0
    /// The marks of the entries whose headers begin in the content; `nil` if they are unknown.
    var marks: [EntryMark]?
    /// The frame of the table of large files that follows the piece; empty if there is none.
    var table: [UInt8] = []

    /// Bytes of the tar stream that still fit.
    var free: Int { FrameFormat.chunkSize - count }
}

extension FrameBuffer {
    /// Lends the content that begins at `start`.
    ///
    /// Code that passes the buffer on must not keep the array, or the next write copies it first.
    func withContent<Result, Failure: Error>(
        from start: Int = 0,
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let range = start..<count
        return try unsafe bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(unsafe bytes.span.extracting(range))
        }
    }

    /// Appends `value`, for which there must be room.
    func append(_ value: Span<UInt8>) {
        var target = bytes.mutableSpan
        target.copy(value, to: count)
        count += value.count
    }
}

/// Used buffers, kept so that the next chunks need no new memory.
struct FrameBufferPool: Sendable {
    private let free = Monitor<[FrameBuffer]>([])

    /// Hands out a kept buffer, or a new one; either is empty.
    func take() -> FrameBuffer {
        let buffer = free.withLock { $0.popLast() } ?? FrameBuffer()
        buffer.count = 0
        buffer.marks = nil
        buffer.table = []
        return buffer
    }

    /// Keeps a used buffer; any thread may give it back.
    func keep(_ used: FrameBuffer) {
        free.withLock { $0.append(used) }
    }
}
