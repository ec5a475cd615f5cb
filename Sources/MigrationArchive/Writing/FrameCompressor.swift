internal import CXXHash
internal import CZstd

/// Compresses one chunk after another, each into an independent frame.
@safe
struct FrameCompressor: ~Copyable {
    private let context: OpaquePointer
    private let probeContext: OpaquePointer

    /// The highest level whose tables fit in the memory that is promised as they are.
    private static let lastLevelWithSmallTables = 5

    /// The size of the tables of higher levels as a power of two; measured, larger ones save less
    /// than 1 % of frames of this size and take four times the memory.
    private static let largestTableLog: CInt = 19

    /// Makes a compressor for `level`, which zstd clamps to the levels that it knows.
    static func make(level: Int) throws(ArchiveError) -> FrameCompressor {
        guard let context = unsafe ZSTD_createCCtx(), let probe = unsafe ZSTD_createCCtx() else {
            throw ArchiveError(.outputFailed, "there is no memory for compressing")
        }
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, CInt(level))
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        if level > lastLevelWithSmallTables {
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, largestTableLog)
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, largestTableLog)
        }
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
        return unsafe FrameCompressor(adopting: context, probe: probe)
    }

    private init(adopting context: OpaquePointer, probe: OpaquePointer) {
        unsafe self.context = context
        unsafe probeContext = probe
    }

    deinit {
        _ = unsafe ZSTD_freeCCtx(context)
        _ = unsafe ZSTD_freeCCtx(probeContext)
    }

    /// Compresses the content of `input` into `output` as one frame.
    mutating func compress(_ input: FrameBuffer, into output: FrameBuffer) throws(ArchiveError) {
        let count = input.count
        let result = unsafe output.bytes.withUnsafeMutableBytes { output in
            unsafe input.bytes.withUnsafeBytes { input in
                unsafe ZSTD_compress2(
                    context,
                    output.baseAddress,
                    output.count,
                    input.baseAddress,
                    count
                )
            }
        }
        guard ZSTD_isError(result) == 0 else {
            throw ArchiveError(.outputFailed, "compressing failed: \(zstdErrorName(result))")
        }
        output.count = result
    }
}

// MARK: - Probing

extension FrameCompressor {
    private static let sampleCount = 8
    private static let sampleSize = 8 * 1024

    /// Whether samples of `input` say that compressing it would save next to nothing.
    ///
    /// Every sample must be dense by itself, so that a chunk with a compressible part is compressed.
    mutating func isIncompressible(_ input: FrameBuffer) -> Bool {
        let stride = input.count / Self.sampleCount
        guard stride >= Self.sampleSize else { return false }
        var total = 0
        for sample in 0..<Self.sampleCount {
            let size = compressedSize(of: input, from: sample * stride)
            guard size * 100 >= Self.sampleSize * 97 else { return false }
            total += size
        }
        return total * 1000 >= Self.sampleCount * Self.sampleSize * 990
    }

    private mutating func compressedSize(of input: FrameBuffer, from start: Int) -> Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 2 * Self.sampleSize, alignment: 16) {
            output in
            unsafe input.bytes.withUnsafeBytes { input in
                unsafe ZSTD_compressCCtx(
                    probeContext,
                    output.baseAddress,
                    output.count,
                    input.baseAddress?.advanced(by: start),
                    Self.sampleSize,
                    1
                )
            }
        }
    }
}

// MARK: - Frames of raw blocks

/// A frame of raw blocks (RFC 8878, 3.1.1), for content that compression would not make smaller.
///
/// The content is written from where it lies in memory; only the bytes around its blocks are made.
struct StoredFrame {
    private let content: FrameBuffer
    /// The bytes before, between and after the blocks, one after another.
    private let framing: [UInt8]

    private static let prologueSize = 9
    private static let blockHeaderSize = 3
    private static let blockSize = 128 * 1024

    /// Makes a frame of `content`, which must not change while the frame is in use.
    init(of content: FrameBuffer) {
        self.content = content
        framing = content.withContent { content in
            var framing = Self.prologue(contentSize: content.count)
            for start in Self.blockStarts(contentSize: content.count) {
                let rest = content.count - start
                let isLast: UInt32 = rest <= Self.blockSize ? 1 : 0
                let header = UInt32(min(rest, Self.blockSize)) << 3 | isLast
                framing += [UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)]
            }
            framing.appendLittleEndian(Self.checksum(of: content))
            return framing
        }
    }

    /// The bytes of the whole frame.
    var size: Int { framing.count + content.count }

    /// Lends the frame to `body`, in the pieces in which it lies in memory.
    func withPieces<Result>(
        _ body: ([UnsafeRawBufferPointer]) throws -> Result
    ) rethrows -> Result {
        try content.withContent { content in
            try unsafe content.withUnsafeBytes { content in
                try unsafe framing.withUnsafeBytes { framing in
                    try unsafe body(Self.pieces(of: content, within: framing))
                }
            }
        }
    }

    private static func pieces(
        of content: UnsafeRawBufferPointer,
        within framing: UnsafeRawBufferPointer
    ) -> [UnsafeRawBufferPointer] {
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        var (start, end) = (0, prologueSize + blockHeaderSize)
        for block in blockStarts(contentSize: content.count) {
            let blockEnd = min(block + blockSize, content.count)
            unsafe pieces.append(.init(rebasing: framing[start..<end]))
            unsafe pieces.append(.init(rebasing: content[block..<blockEnd]))
            (start, end) = (end, end + blockHeaderSize)
        }
        unsafe pieces.append(.init(rebasing: framing[start...]))
        return unsafe pieces
    }

    private static func blockStarts(contentSize: Int) -> StrideTo<Int> {
        stride(from: 0, to: max(contentSize, 1), by: blockSize)
    }

    /// Magic, a descriptor that says "single segment, content size in 4 bytes, checksum", and the size.
    private static func prologue(contentSize: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.zstdMagic)
        bytes.append(0b1010_0100)
        bytes.appendLittleEndian(UInt32(contentSize))
        return bytes
    }

    private static func checksum(of content: Span<UInt8>) -> UInt32 {
        unsafe content.withUnsafeBytes { bytes in
            unsafe UInt32(truncatingIfNeeded: XXH64(bytes.baseAddress, bytes.count, 0))
        }
    }
}
