#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import CLibcrypto
#endif

/// SHA-256 of bytes that are all there, from the system's cryptographic library.
enum SHA256Digest {
    /// The bytes of a hash.
    static let size = 32

    /// Appends the hash of the first `count` bytes of `bytes` to `output`.
    static func append(of bytes: [UInt8], count: Int, to output: inout [UInt8]) {
        precondition(count <= bytes.count)
        #if canImport(CryptoKit)
        output.append(contentsOf: CryptoKit.SHA256.hash(data: bytes[..<count]))
        #else
        var digest = [UInt8](repeating: 0, count: size)
        unsafe bytes.withUnsafeBufferPointer { input in
            unsafe digest.withUnsafeMutableBufferPointer { output in
                _ = unsafe SHA256(input.baseAddress, count, output.baseAddress)
            }
        }
        output.append(contentsOf: digest)
        #endif
    }

    /// The hash of what `buffer` holds.
    static func hash(of buffer: FrameBuffer) -> [UInt8] {
        var digest: [UInt8] = []
        append(of: buffer.bytes, count: buffer.count, to: &digest)
        return digest
    }

    /// The hash of `bytes`.
    static func hash(of bytes: [UInt8]) -> [UInt8] {
        var digest: [UInt8] = []
        append(of: bytes, count: bytes.count, to: &digest)
        return digest
    }

    /// The hash of `pieces`, one after another.
    static func hash(of pieces: [UnsafeRawBufferPointer]) -> [UInt8] {
        #if canImport(CryptoKit)
        var hash = CryptoKit.SHA256()
        unsafe pieces.forEach { unsafe hash.update(bufferPointer: $0) }
        return [UInt8](hash.finalize())
        #else
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var isDone = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        unsafe pieces.forEach { piece in
            isDone = unsafe isDone && EVP_DigestUpdate(context, piece.baseAddress, piece.count) == 1
        }
        var digest = [UInt8](repeating: 0, count: size)
        unsafe digest.withUnsafeMutableBufferPointer { output in
            isDone = unsafe isDone && EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1
        }
        precondition(isDone, "the cryptographic library has no SHA-256")
        return digest
        #endif
    }
}
