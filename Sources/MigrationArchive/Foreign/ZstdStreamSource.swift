internal import CZstd
internal import MigrationSystem

/// The content of zstd frames that another program wrote, of any size and number.
@safe
final class ZstdStreamSource: ChunkSource {
    private static let chunkSize = 1 << 20
    private let context: OpaquePointer
    private let input: ArchiveInput
    private var isInFrame = false
    private var seekTable = SeekTableCheck()
    private let spare = FrameBufferPool()

    init(reading input: ArchiveInput) throws(ArchiveError) {
        self.input = input
        guard let context = unsafe ZSTD_createDCtx() else {
            throw ArchiveError(.inputFailed, "there is no memory for decompressing")
        }
        unsafe ZSTD_DCtx_setParameter(
            context,
            ZSTD_d_windowLogMax,
            CInt(FrameFormat.windowLogLimit)
        )
        unsafe self.context = context
    }

    deinit {
        _ = unsafe ZSTD_freeDCtx(context)
    }

    func nextChunk() throws -> FrameBuffer? {
        let chunk = spare.take()
        while chunk.count == 0 {
            if !isInFrame, try !beginFrame() { return nil }
            try decompress(into: chunk)
        }
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.keep(chunk)
    }
}

// MARK: - Frames

extension ZstdStreamSource {
    /// Moves to the next data frame; returns `false` at the end of the archive.
    private func beginFrame() throws -> Bool {
        while true {
            guard try input.lookAhead(4) >= 4 else {
                guard input.ahead.isEmpty else {
                    throw ArchiveError(.damaged, "bytes follow the last zstd frame")
                }
                return false
            }
            let magic = number(at: 0)
            if magic == FrameFormat.zstdMagic {
                seekTable.beginFrame()
                isInFrame = true
                return true
            }
            guard magic & 0xFFFF_FFF0 == FrameFormat.skippableMagic else {
                throw ArchiveError(.damaged, "bytes follow the last zstd frame")
            }
            try skipFrame(magic: magic)
        }
    }

    /// The number at `offset` in the lookahead buffer.
    private func number(at offset: Int) -> UInt32 {
        [UInt8](input.ahead.prefix(8)).littleEndian(at: offset)
    }

    private func skipFrame(magic: UInt32) throws {
        guard try input.lookAhead(8) >= 8 else {
            throw ArchiveError(.truncated, "the archive ends in a skippable frame")
        }
        let size = number(at: 4)
        input.skip(8)
        let isSeekTable = magic == FrameFormat.seekTableMagic
        if isSeekTable { seekTable.beginTable(size: size) }
        var rest = Int(size)
        while rest > 0 {
            guard try input.lookAhead(1) > 0 else {
                throw ArchiveError(.truncated, "the archive ends in a skippable frame")
            }
            let count = min(rest, input.ahead.count)
            if isSeekTable { try seekTable.add(input.ahead.prefix(count)) }
            input.skip(count)
            rest -= count
        }
        if isSeekTable { try seekTable.finishTable() }
        seekTable.addSkippable(size: size)
    }

    private func decompress(into chunk: FrameBuffer) throws {
        guard try input.lookAhead(1) > 0 else {
            throw ArchiveError(.truncated, "the archive ends in a zstd frame")
        }
        let (consumed, produced, result) = step(into: chunk)
        guard ZSTD_isError(result) == 0 else {
            let name = zstdErrorName(result)
            if ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge {
                throw ArchiveError(
                    .unsupported,
                    "a zstd frame's window is larger than 2^\(FrameFormat.windowLogLimit) bytes",
                    remedy: .decompress(by: "zstd -dc --long=31")
                )
            }
            throw ArchiveError(.damaged, "a zstd frame can't be decompressed (\(name))")
        }
        input.skip(consumed)
        chunk.count += produced
        seekTable.add(compressed: consumed, decompressed: produced)
        if result == 0 {
            isInFrame = false
            seekTable.endFrame()
        }
    }

    private func step(into chunk: FrameBuffer) -> (consumed: Int, produced: Int, result: Int) {
        unsafe input.ahead.withUnsafeBytes { pending in
            unsafe chunk.bytes.withUnsafeMutableBytes { output in
                var target = unsafe ZSTD_outBuffer(
                    dst: output.baseAddress,
                    size: Self.chunkSize,
                    pos: 0
                )
                var source = unsafe ZSTD_inBuffer(
                    src: pending.baseAddress,
                    size: pending.count,
                    pos: 0
                )
                let result = unsafe ZSTD_decompressStream(context, &target, &source)
                return unsafe (source.pos, target.pos, result)
            }
        }
    }
}

// MARK: - Seek tables

/// Compares the seek table that another program wrote with the frames that were read.
///
/// The table is never used. A wrong one shows that the archive was changed.
struct SeekTableCheck {
    private struct Size {
        var compressed: UInt32
        var decompressed: UInt32
    }

    /// If there are more frames than this, they are not remembered, and the table isn't checked.
    private static let limit = 1 << 20

    private var frames: [Size] = []
    private var compressed = 0
    private var decompressed = 0
    private var isComplete = true
    private var table: [UInt8] = []
    private var tableSize = 0

    mutating func beginFrame() {
        compressed = 0
        decompressed = 0
    }

    mutating func add(compressed: Int, decompressed: Int) {
        self.compressed += compressed
        self.decompressed += decompressed
    }

    mutating func endFrame() {
        append(
            Size(
                compressed: UInt32(clamping: compressed),
                decompressed: UInt32(clamping: decompressed)
            )
        )
    }

    mutating func addSkippable(size: UInt32) {
        append(Size(compressed: UInt32(clamping: Int(size) + 8), decompressed: 0))
    }

    private mutating func append(_ size: Size) {
        isComplete = isComplete && frames.count < Self.limit
        if isComplete { frames.append(size) }
    }

    mutating func beginTable(size: UInt32) {
        table = []
        tableSize = Int(size)
    }

    /// Takes bytes of the table, as many as a true one can have.
    mutating func add(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        let largest = frames.count * 12 + FrameFormat.seekTableFooterSize
        guard !isComplete || tableSize <= largest else { throw Self.isFalse }
        if isComplete { table.append(contentsOf: bytes) }
    }

    /// Throws unless the table lists exactly the frames before it.
    mutating func finishTable() throws(ArchiveError) {
        defer { table = [] }
        guard isComplete else { return }
        guard table.count >= FrameFormat.seekTableFooterSize else { throw Self.isFalse }
        let footer = table.count - FrameFormat.seekTableFooterSize
        let descriptor = table[footer + 4]
        let stride = descriptor & 0x80 == 0 ? 8 : 12
        guard table.littleEndian(at: footer + 5) == FrameFormat.seekTableFooterMagic,
            descriptor & 0x7C == 0,
            Int(table.littleEndian(at: footer, as: UInt32.self)) == frames.count,
            footer == frames.count * stride
        else { throw Self.isFalse }
        for (index, frame) in frames.enumerated() {
            guard table.littleEndian(at: index * stride) == frame.compressed,
                table.littleEndian(at: index * stride + 4) == frame.decompressed
            else { throw Self.isFalse }
        }
    }

    private static let isFalse = ArchiveError(
        .damaged,
        "the seek table does not match the frames"
    )
}
