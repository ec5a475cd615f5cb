internal import CZstd

/// Decompresses frames whose content size is known.
@safe
struct FrameDecompressor: ~Copyable {
    private let context: OpaquePointer
    /// How much of a frame that is decompressed in pieces was consumed.
    private var consumed = 0

    /// The power of two that windows, for which piecewise decompressing takes memory, stay within.
    private static let windowLogLimit: CInt = 23

    static func make() throws(ArchiveError) -> FrameDecompressor {
        guard let context = unsafe ZSTD_createDCtx() else {
            throw ArchiveError(.inputFailed, "there is no memory for decompressing")
        }
        unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLogLimit)
        return unsafe FrameDecompressor(adopting: context)
    }

    private init(adopting context: OpaquePointer) {
        unsafe self.context = context
    }

    deinit {
        _ = unsafe ZSTD_freeDCtx(context)
    }

    /// Decompresses the frame in `input` into `output`; its content must be `contentSize` bytes.
    mutating func decompress(
        _ input: FrameBuffer,
        into output: FrameBuffer,
        contentSize: Int
    ) throws(ArchiveError) {
        precondition(contentSize <= FrameFormat.chunkSize)
        let count = input.count
        let result = unsafe output.bytes.withUnsafeMutableBytes { output in
            unsafe input.bytes.withUnsafeBytes { input in
                unsafe ZSTD_decompressDCtx(
                    context,
                    output.baseAddress,
                    contentSize,
                    input.baseAddress,
                    count
                )
            }
        }
        try Self.check(result)
        guard result == contentSize else { throw Self.notWhatItSays }
        output.count = result
    }

    private static let notWhatItSays = ArchiveError(
        .damaged,
        "a frame's content does not have the size that it says"
    )

    private static func check(_ result: Int) throws(ArchiveError) {
        guard ZSTD_isError(result) == 0 else {
            throw ArchiveError(.damaged, "a frame can't be decompressed (\(zstdErrorName(result)))")
        }
    }
}

// MARK: - Piece by piece

extension FrameDecompressor {
    /// Makes ready for the first piece of a frame.
    mutating func begin() {
        unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only)
        consumed = 0
    }

    /// Decompresses the next `count` bytes of the frame in `input` into `output`.
    mutating func decompress(
        _ input: FrameBuffer,
        into output: FrameBuffer,
        count: Int,
        isLast: Bool
    ) throws(ArchiveError) {
        var written = 0
        var result = 1
        while result != 0, isLast || written < count {
            let before = (consumed, written)
            result = step(input, into: output, written: &written, count: count)
            try Self.check(result)
            guard (consumed, written) != before else { break }
        }
        guard written == count, !isLast || (result == 0 && consumed == input.count) else {
            throw Self.notWhatItSays
        }
        output.count = count
    }

    private mutating func step(
        _ input: FrameBuffer,
        into output: FrameBuffer,
        written: inout Int,
        count: Int
    ) -> Int {
        let inputCount = input.count
        return unsafe output.bytes.withUnsafeMutableBytes { output in
            unsafe input.bytes.withUnsafeBytes { input in
                var target = unsafe ZSTD_outBuffer(
                    dst: output.baseAddress,
                    size: count,
                    pos: written
                )
                var source = unsafe ZSTD_inBuffer(
                    src: input.baseAddress,
                    size: inputCount,
                    pos: consumed
                )
                defer { unsafe (written, consumed) = (target.pos, source.pos) }
                return unsafe ZSTD_decompressStream(context, &target, &source)
            }
        }
    }
}
