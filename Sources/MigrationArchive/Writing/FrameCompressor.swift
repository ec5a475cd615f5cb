internal import CZstd
internal import MigrationSystem

/// Compresses one chunk after another, each into an independent frame.
@safe
struct FrameCompressor: ~Copyable {
    private let context: OpaquePointer
    private let probeContext: OpaquePointer
    private let level: Int

    /// The highest level whose tables fit into the promised memory unchanged.
    private static let lastLevelWithSmallTables = 5

    /// Whether the tables of `level` use little memory.
    static func hasSmallTables(_ level: Int) -> Bool { level <= lastLevelWithSmallTables }

    /// The size of the tables of higher levels as a power of two; larger ones were measured to save
    /// less than 1 % of frames of this size and take four times the memory.
    private static let largestTableLog: CInt = 19

    /// The level whose tables depend on the content.
    private static let variedLevel = 3

    /// If this many entries begin in a chunk, it consists of small files, for which smaller tables
    /// suffice.
    ///
    /// Compressing was measured to take 12 to 16 % less time then, and frames are at most 1.8 %
    /// larger.
    private static let manyEntries = 8

    /// The sizes of smaller tables as powers of two: for long matches, and for short matches, whose
    /// table is fastest if it fits into the first caches.
    private static let (smallHashLog, smallChainLog) = (CInt(16), CInt(14))

    /// The size of the table for short matches elsewhere as a power of two: twice the level's own.
    ///
    /// A match can't reach into an earlier frame, which costs databases most; this makes up for it.
    private static let wideChainLog: CInt = 17

    /// A match may reach back over the whole chunk; measurements show no cost at this level.
    private static let variedWindowLog = CInt(FrameFormat.chunkSize.trailingZeroBitCount)

    /// Makes a compressor for `level`, which zstd clamps to the levels that it knows.
    init(level: Int) throws(ArchiveError) {
        guard let context = unsafe ZSTD_createCCtx(), let probe = unsafe ZSTD_createCCtx() else {
            throw ArchiveError(.outputFailed, "there is no memory for compressing")
        }
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, CInt(level))
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        if !Self.hasSmallTables(level) {
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, Self.largestTableLog)
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, Self.largestTableLog)
        }
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1)
        unsafe self.context = context
        unsafe probeContext = probe
        self.level = level
    }

    deinit {
        _ = unsafe ZSTD_freeCCtx(context)
        _ = unsafe ZSTD_freeCCtx(probeContext)
    }

    /// Compresses the content of `input` into `output` as one frame.
    mutating func compress(_ input: FrameBuffer, into output: FrameBuffer) throws(ArchiveError) {
        let count = input.count
        if level == Self.variedLevel {
            // Zero means the level's own value.
            let isOfSmallFiles = (input.marks?.count ?? 0) >= Self.manyEntries
            let (hashLog, chainLog) =
                isOfSmallFiles ? (Self.smallHashLog, Self.smallChainLog) : (0, Self.wideChainLog)
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, hashLog)
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, chainLog)
            unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, Self.variedWindowLog)
        }
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

    /// Whether samples of `input` show that compressing it would save almost nothing.
    ///
    /// Every sample must be incompressible, so that a chunk with a compressible part is compressed.
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
