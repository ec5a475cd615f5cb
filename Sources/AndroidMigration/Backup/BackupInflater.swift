internal import CZlib

/// Decompresses the zlib stream of an `.ab` file, piece by piece.
@safe
final class BackupInflater {
    /// Why the stream can't be decompressed.
    struct Failure: Error {
        let reason: String
    }

    private static let outputSize = 256 * 1024

    private let stream: UnsafeMutablePointer<z_stream>
    private var output = [UInt8](repeating: 0, count: outputSize)

    /// Whether the end of the stream was reached.
    private(set) var isFinished = false

    init() throws(Failure) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe self.stream = stream
        let size = unsafe CInt(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit_(stream, ZLIB_VERSION, size) == Z_OK else {
            throw Failure(reason: "there is no memory")
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses `bytes` and passes the result to `body`.
    func inflate(_ bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var rest = bytes
        while !isFinished {
            let (result, taken, made) = step(rest)
            rest = rest.dropFirst(taken)
            if made > 0 { try body(output[..<made]) }
            switch result {
            case Z_STREAM_END: isFinished = true
            case Z_OK, Z_BUF_ERROR:
                if taken == 0, made == 0 { return }
            default:
                let text = unsafe zError(result).map { unsafe String(cString: $0) } ?? "\(result)"
                throw Failure(reason: text)
            }
        }
    }

    private func step(_ bytes: ArraySlice<UInt8>) -> (result: CInt, taken: Int, made: Int) {
        let result = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                // zlib only reads its input (zlib.h says `z_const`).
                unsafe stream.pointee.next_in = .init(mutating: input.baseAddress)
                unsafe stream.pointee.avail_in = CUnsignedInt(input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = CUnsignedInt(output.count)
                return unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            }
        }
        let taken = bytes.count - Int(unsafe stream.pointee.avail_in)
        return (result, taken, output.count - Int(unsafe stream.pointee.avail_out))
    }
}
