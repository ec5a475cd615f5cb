internal import CZlib

/// Compresses a tar file as gzip does.
enum GzipForge {
    /// 15 for the largest window there is, and 16 for gzip's header (zlib.h).
    private static let windowBits: CInt = 15 + 16

    /// A gzip member that holds `bytes`.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let size = CInt(MemoryLayout<z_stream>.size)
        let strategy = Z_DEFAULT_STRATEGY
        let begun = deflateInit2_(
            &stream,
            1,
            Z_DEFLATED,
            windowBits,
            8,
            strategy,
            ZLIB_VERSION,
            size
        )
        guard begun == Z_OK else { fatalError("no compressor for gzip") }
        defer { deflateEnd(&stream) }
        var (input, output) = (bytes, [UInt8](repeating: 0, count: bytes.count + 4096))
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = CUnsignedInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = CUnsignedInt(output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END else { fatalError("gzip does not come to its end") }
        return [UInt8](output.prefix(Int(stream.total_out)))
    }
}
