internal import CZstd
internal import Synchronization

/// The content of zstd frames that another program wrote, of any size and number.
@safe
final class ZstdStreamSource: ChunkSource {
    private static let chunkSize = 1 << 20
    private let input: ArchiveInput
    private let context: OpaquePointer
    private var pending = [UInt8](repeating: 0, count: 256 * 1024)
    private var start = 0
    private var end = 0
    private var isInFrame = false
    private var seekTable = SeekTableCheck()
    private let spare = Mutex<FrameBuffer?>(nil)

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
        let chunk = spare.withLock { $0.take() } ?? FrameBuffer()
        chunk.count = 0
        while chunk.count == 0 {
            if !isInFrame, try !beginFrame() { return nil }
            try decompress(into: chunk)
        }
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.withLock { $0 = chunk }
    }
}

// MARK: - Frames

extension ZstdStreamSource {
    /// Moves to the next data frame; returns `false` at the end of the archive.
    private func beginFrame() throws -> Bool {
        while true {
            guard try fill(4) else {
                guard start == end else {
                    throw ArchiveError(.damaged, "bytes follow the last zstd frame")
                }
                return false
            }
            let magic = pending.littleEndian(at: start, as: UInt32.self)
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

    private func skipFrame(magic: UInt32) throws {
        guard try fill(8) else {
            throw ArchiveError(.truncated, "the archive ends in a skippable frame")
        }
        let size = pending.littleEndian(at: start + 4, as: UInt32.self)
        start += 8
        var check = seekTable
        let isSeekTable = magic == FrameFormat.seekTableMagic
        if isSeekTable { check.beginTable(size: size) }
        var rest = Int(size)
        while rest > 0 {
            guard try fill(1) else {
                throw ArchiveError(.truncated, "the archive ends in a skippable frame")
            }
            let count = min(rest, end - start)
            if isSeekTable { try check.add(pending[start..<start + count]) }
            start += count
            rest -= count
        }
        if isSeekTable { try check.finishTable() }
        seekTable.addSkippable(size: size)
    }

    private func decompress(into chunk: FrameBuffer) throws {
        guard try fill(1) else {
            throw ArchiveError(.truncated, "the archive ends in a zstd frame")
        }
        let (consumed, produced, result) = step(into: chunk)
        guard ZSTD_isError(result) == 0 else {
            let name = zstdErrorName(result)
            throw ArchiveError(.damaged, "a zstd frame can't be decompressed (\(name))")
        }
        start += consumed
        chunk.count += produced
        seekTable.add(compressed: consumed, decompressed: produced)
        if result == 0 {
            isInFrame = false
            seekTable.endFrame()
        }
    }

    private func step(into chunk: FrameBuffer) -> (consumed: Int, produced: Int, result: Int) {
        let (position, limit) = (start, end)
        return unsafe chunk.bytes.withUnsafeMutableBytes { output in
            unsafe pending.withUnsafeBytes { input in
                var target = unsafe ZSTD_outBuffer(
                    dst: output.baseAddress,
                    size: Self.chunkSize,
                    pos: 0
                )
                var source = unsafe ZSTD_inBuffer(
                    src: input.baseAddress,
                    size: limit,
                    pos: position
                )
                let result = unsafe ZSTD_decompressStream(context, &target, &source)
                return unsafe (source.pos - position, target.pos, result)
            }
        }
    }

    /// Makes at least `count` bytes pending; returns `false` where the input ends before them.
    private func fill(_ count: Int) throws -> Bool {
        while end - start < count {
            if start > 0 {
                pending.replaceSubrange(0..<(end - start), with: Array(pending[start..<end]))
                end -= start
                start = 0
            }
            let read = try input.read(into: &pending, from: end, count: pending.count - end)
            if read == 0 { return false }
            end += read
        }
        return true
    }
}
