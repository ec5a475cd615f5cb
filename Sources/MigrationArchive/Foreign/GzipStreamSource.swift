internal import CZlib

/// The content of gzip members that another program wrote, of any size and number.
@safe
final class GzipStreamSource: ChunkSource {
    /// The first bytes of every member (RFC 1952).
    static let magic: [UInt8] = [0x1F, 0x8B]

    private static let chunkSize = 1 << 20
    /// 15 for the largest window, and 16 to accept only gzip's header (zlib.h).
    private static let windowBits: CInt = 15 + 16

    private let stream: UnsafeMutablePointer<z_stream>
    private let input: ArchiveInput
    private var isInMember = false
    private let spare = FrameBufferPool()

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
        let chunk = spare.take()
        while chunk.count == 0 {
            if !isInMember, try !beginMember() { return nil }
            try decompress(into: chunk)
        }
        return chunk
    }

    func recycle(_ chunk: FrameBuffer) {
        spare.keep(chunk)
    }
}

// MARK: - Members

extension GzipStreamSource {
    /// Moves to the next member; returns `false` at the end of the archive.
    private func beginMember() throws -> Bool {
        guard try input.lookAhead(1) > 0 else { return false }
        guard input.ahead.first == Self.magic[0] else {
            try skipPadding()
            return false
        }
        guard unsafe inflateReset(stream) == Z_OK else {
            throw ArchiveError(.inputFailed, "a gzip member can't be begun")
        }
        isInMember = true
        return true
    }

    /// Reads the zeros after the last member, which pad tapes (gzip's manual).
    private func skipPadding() throws {
        while try input.lookAhead(1) > 0 {
            guard input.ahead.allSatisfy({ $0 == 0 }) else {
                throw ArchiveError(.damaged, "bytes follow the last gzip member")
            }
            input.skip(input.ahead.count)
        }
    }

    private func decompress(into chunk: FrameBuffer) throws {
        guard try input.lookAhead(1) > 0 else {
            throw ArchiveError(.truncated, "the archive ends in a gzip member")
        }
        switch step(into: chunk) {
        case Z_OK: break
        case Z_STREAM_END: isInMember = false
        case let result: throw Self.failure(result)
        }
    }

    /// Decompresses the pending bytes as far as there is room; returns zlib's result.
    private func step(into chunk: FrameBuffer) -> CInt {
        let result = unsafe input.ahead.withUnsafeBufferPointer { pending in
            unsafe chunk.bytes.withUnsafeMutableBufferPointer { output in
                // zlib only reads its input (zlib.h says `z_const`).
                unsafe stream.pointee.next_in = .init(mutating: pending.baseAddress)
                unsafe stream.pointee.avail_in = CUnsignedInt(pending.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = CUnsignedInt(Self.chunkSize)
                return unsafe inflate(stream, Z_NO_FLUSH)
            }
        }
        input.skip(input.ahead.count - Int(unsafe stream.pointee.avail_in))
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
}
