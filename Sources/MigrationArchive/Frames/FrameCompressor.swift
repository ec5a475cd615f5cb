internal import CXXHash
internal import CZstd

/// Compresses one chunk after another, each into a frame that stands by itself.
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

// MARK: - Storing

/// Writes chunks that compression would not make smaller: frames of raw blocks (RFC 8878, 3.1.1).
enum StoredFrame {
    private static let blockSize = 128 * 1024

    /// Frames the content of `input` in `output` as it is.
    static func store(_ input: FrameBuffer, into output: FrameBuffer) {
        var position = output.put(prologue(contentSize: input.count), at: 0)
        var start = 0
        repeat {
            let count = min(blockSize, input.count - start)
            let isLast = start + count == input.count
            position = output.put(blockHeader(count: count, isLast: isLast), at: position)
            position = output.put(input.bytes.span.extracting(start..<start + count), at: position)
            start += count
        } while start < input.count
        var checksum: [UInt8] = []
        checksum.appendLittleEndian(UInt32(truncatingIfNeeded: hash(of: input)))
        output.count = output.put(checksum.span, at: position)
    }

    /// Magic, a descriptor that says "single segment, content size in 4 bytes, checksum", and the size.
    private static func prologue(contentSize: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.zstdMagic)
        bytes.append(0b1010_0100)
        bytes.appendLittleEndian(UInt32(contentSize))
        return bytes
    }

    private static func blockHeader(count: Int, isLast: Bool) -> [UInt8] {
        let value = UInt32(count) << 3 | (isLast ? 1 : 0)
        return [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value >> 16 & 0xFF)]
    }

    private static func hash(of input: FrameBuffer) -> UInt64 {
        let count = input.count
        return unsafe input.bytes.withUnsafeBytes { unsafe XXH64($0.baseAddress, count, 0) }
    }
}

extension FrameBuffer {
    fileprivate func put(_ value: [UInt8], at position: Int) -> Int {
        put(value.span, at: position)
    }

    /// Copies `value` to `position`; returns the place behind it.
    func put(_ value: Span<UInt8>, at position: Int) -> Int {
        precondition(position + value.count <= bytes.count)
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe value.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[position...])
                    .copyMemory(from: source)
            }
        }
        return position + value.count
    }
}

/// What zstd calls the error that `result` stands for.
func zstdErrorName(_ result: Int) -> String {
    unsafe String(cString: ZSTD_getErrorName(result))
}
