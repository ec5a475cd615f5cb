internal import CZlib
internal import Synchronization

/// The content of gzip members that another program wrote, of any size and number.
@safe
final class GzipStreamSource: ChunkSource {
    /// The first bytes of every member (RFC 1952).
    static let magic: [UInt8] = [0x1F, 0x8B]

    private static let chunkSize = 1 << 20
    /// 15 for the largest window there is, and 16 to take gzip's header and nothing else (zlib.h).
    private static let windowBits: CInt = 15 + 16

    private let input: ArchiveInput
    private let stream: UnsafeMutablePointer<z_stream>
    private var pending = [UInt8](repeating: 0, count: 256 * 1024)
    private var start = 0
    private var end = 0
    private var isInMember = false
    private let spare = Mutex<FrameBuffer?>(nil)

    init(reading input: ArchiveInput) throws(ArchiveError) {
        self.input = input
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe self.stream = stream
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(stream, Self.windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw ArchiveError(.inputFailed, "there is no memory for decompressing")
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func nextChunk() throws -> FrameBuffer? {
        let chunk = spare.withLock { $0.take() } ?? FrameBuffer()
        chunk.count = 0
        while chunk.count == 0 {
            if !isInMember, try !beginMember() { return nil }
            try decompress(into: chunk)
        }
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.withLock { $0 = chunk }
    }
}

// MARK: - Members

extension GzipStreamSource {
    /// Moves to the next member; returns `false` at the end of the archive.
    private func beginMember() throws -> Bool {
        guard try fill() else { return false }
        guard pending[start] == Self.magic[0] else {
            throw ArchiveError(.damaged, "bytes follow the last gzip member")
        }
        guard unsafe inflateReset(stream) == Z_OK else {
            throw ArchiveError(.inputFailed, "a gzip member can't be begun")
        }
        isInMember = true
        return true
    }

    private func decompress(into chunk: FrameBuffer) throws {
        guard try fill() else {
            throw ArchiveError(.truncated, "the archive ends in a gzip member")
        }
        switch step(into: chunk) {
        case Z_OK: break
        case Z_STREAM_END: isInMember = false
        case let result: throw Self.failure(result)
        }
    }

    /// Decompresses what is pending as far as there is room; returns what zlib says.
    private func step(into chunk: FrameBuffer) -> CInt {
        let (position, count) = (start, end - start)
        let result = unsafe chunk.bytes.withUnsafeMutableBufferPointer { output in
            unsafe pending.withUnsafeMutableBufferPointer { input in
                unsafe stream.pointee.next_in = input.baseAddress?.advanced(by: position)
                unsafe stream.pointee.avail_in = CUnsignedInt(count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = CUnsignedInt(Self.chunkSize)
                return unsafe inflate(stream, Z_NO_FLUSH)
            }
        }
        start = end - Int(unsafe stream.pointee.avail_in)
        chunk.count = Self.chunkSize - Int(unsafe stream.pointee.avail_out)
        return result
    }

    private static func failure(_ result: CInt) -> ArchiveError {
        if result == Z_MEM_ERROR {
            return ArchiveError(.inputFailed, "there is no memory for decompressing")
        }
        let reason = unsafe zError(result).map { unsafe String(cString: $0) } ?? "\(result)"
        return ArchiveError(.damaged, "a gzip member can't be decompressed (\(reason))")
    }

    /// Makes at least one byte pending; returns `false` where the input ends before it.
    private func fill() throws -> Bool {
        if start < end { return true }
        start = 0
        end = try input.read(into: &pending, from: 0, count: pending.count)
        return end > 0
    }
}
