#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import CLibcrypto
#endif

/// SHA-256 of bytes that are all there, from the system's cryptographic library.
enum SHA256Digest {
    /// The bytes of a hash.
    static let size = 32

    #if !canImport(CryptoKit)
    /// Whether libcrypto is set up, to stay until the process is gone.
    ///
    /// By itself it takes itself apart in `exit`. A thread that has hashed tells it when it ends, and
    /// where both happen at once the process crashes after its work is done.
    private static let isSetUp =
        unsafe OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
    #endif

    /// Appends the hash of the first `count` bytes of `bytes` to `output`.
    static func append(of bytes: [UInt8], count: Int, to output: inout [UInt8]) {
        precondition(count <= bytes.count)
        #if canImport(CryptoKit)
        output.append(contentsOf: CryptoKit.SHA256.hash(data: bytes[..<count]))
        #else
        precondition(isSetUp, "libcrypto can't be set up")
        var digest = [UInt8](repeating: 0, count: size)
        let isHashed = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe digest.withUnsafeMutableBufferPointer { output in
                unsafe SHA256(input.baseAddress, count, output.baseAddress) != nil
            }
        }
        // It has no other reason than that there is no memory.
        precondition(isHashed, "libcrypto can't hash")
        output.append(contentsOf: digest)
        #endif
    }

    /// The hash of `bytes`.
    static func hash(of bytes: [UInt8]) -> [UInt8] {
        var digest: [UInt8] = []
        append(of: bytes, count: bytes.count, to: &digest)
        return digest
    }
}
