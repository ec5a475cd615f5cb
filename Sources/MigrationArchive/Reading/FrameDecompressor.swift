internal import CZstd

/// Decompresses frames whose content size is known.
@safe
struct FrameDecompressor: ~Copyable {
    private let context: OpaquePointer

    init() throws(ArchiveError) {
        guard let context = unsafe ZSTD_createDCtx() else {
            throw ArchiveError(.inputFailed, "there is no memory for decompressing")
        }
        unsafe self.context = context
    }

    deinit {
        _ = unsafe ZSTD_freeDCtx(context)
    }

    /// Decompresses the piece in `sealed`, and the frames that follow it, into `piece`.
    ///
    /// - Returns: The hash of the piece.
    mutating func open(
        _ sealed: FrameBuffer,
        into piece: FrameBuffer,
        contentSize: Int
    ) throws(ArchiveError) -> [UInt8] {
        let end = try FrameWalk.end(of: sealed, contentSize: contentSize)
        var endOfMarks = end
        let marks = try [EntryMark](parsing: sealed, at: &endOfMarks)
        let table = [UInt8](sealed.bytes[endOfMarks..<sealed.count])
        sealed.count = end
        try decompress(sealed, into: piece, contentSize: contentSize)
        (piece.marks, piece.table) = (marks, table)
        return SHA256Digest.hash(ofPiece: piece)
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
        guard ZSTD_isError(result) == 0 else {
            throw ArchiveError(.damaged, "a frame can't be decompressed (\(zstdErrorName(result)))")
        }
        guard result == contentSize else {
            throw ArchiveError(.damaged, "a frame's content does not have the size that it says")
        }
        output.count = result
    }
}
