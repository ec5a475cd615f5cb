internal import CLibcrypto

/// Seals and opens the chunks of an age file's payload, each with its number and a mark for the last
/// one (STREAM), by ChaCha20-Poly1305 (RFC 8439).
@safe
struct ChunkCipher: ~Copyable {
    /// The bytes of content in every chunk but the last.
    static let chunkSize = 64 * 1024
    /// The bytes that sealing adds.
    static let tagSize = 16
    static let sealedSize = chunkSize + tagSize
    /// The bytes before the first chunk.
    static let nonceSize = 16

    private let context: OpaquePointer?

    init(_ key: Secret) {
        unsafe context = EVP_CIPHER_CTX_new()
        let isReady = unsafe key.withBytes { key in
            let bytes = unsafe key.bindMemory(to: UInt8.self).baseAddress
            return unsafe EVP_CipherInit_ex(context, EVP_chacha20_poly1305(), nil, bytes, nil, 1)
                == 1
        }
        // Fails only if memory is exhausted.
        precondition(isReady, "libcrypto can't encrypt")
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// The key of a payload, from a file's key and the nonce before the first chunk.
    static func key(of fileKey: Secret, nonce: [UInt8]) -> Secret {
        KeyDerivation.hkdf(fileKey, salt: nonce, info: "payload")
    }

    /// Encrypts `pieces`, one after another, into all but the last 16 bytes of `chunk`, and puts the tag into
    /// those; both may begin at the same address.
    func seal(
        _ pieces: [UnsafeRawBufferPointer],
        into chunk: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) {
        var target = unsafe chunk.bindMemory(to: UInt8.self).baseAddress
        let nonce = Self.nonce(ofChunk: number, isLast: isLast)
        var written: CInt = 0
        var isSealed = unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce, 1) == 1
        for index in unsafe pieces.indices {
            let piece = unsafe pieces[index]
            if unsafe piece.isEmpty { continue }
            let source = unsafe piece.bindMemory(to: UInt8.self).baseAddress
            let count = CInt(piece.count)
            isSealed =
                unsafe isSealed && EVP_CipherUpdate(context, target, &written, source, count) == 1
            unsafe target = target?.advanced(by: piece.count)
        }
        isSealed =
            unsafe isSealed && EVP_CipherFinal_ex(context, target, &written) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(Self.tagSize), target) == 1
        precondition(isSealed, "libcrypto can't encrypt")
    }

    /// Opens a chunk into `content`, which is as long as the chunk without its tag.
    ///
    /// Both may begin at the same address. If the chunk is damaged, `content` is filled with zeros.
    func open(
        _ chunk: UnsafeRawBufferPointer,
        into content: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) throws(ArchiveError) {
        guard chunk.count > Self.tagSize || number == 0 && chunk.count == Self.tagSize else {
            throw ArchiveError(
                number == 0 ? .truncated : .damaged,
                "the encrypted archive is cut short, or bytes follow its end"
            )
        }
        // The first attempt may overwrite the chunk.
        let copy = unsafe isLast && chunk.count == Self.sealedSize ? [UInt8](chunk) : []
        if unsafe opens(chunk, into: content, number: number, isLast: isLast) { return }
        let isCutShort = unsafe copy.withUnsafeBytes { copy in
            unsafe !copy.isEmpty && opens(copy, into: content, number: number, isLast: false)
        }
        unsafe OPENSSL_cleanse(content.baseAddress, content.count)
        if isCutShort {
            let message = "the encrypted archive is cut short: it ends after chunk \(number)"
            throw ArchiveError(.truncated, "\(message), which is not its last")
        }
        throw ArchiveError(
            .damaged,
            isLast
                ? "the last chunk of the encrypted archive is damaged or cut short, or bytes follow it"
                : "chunk \(number) of the encrypted archive is not the one that was written"
        )
    }

    /// Decrypts all but the last 16 bytes of `chunk`, which has them, into `content`; both may begin at the
    /// same address.
    ///
    /// - Returns: Whether the last 16 bytes are the right tag; if not, `content` is meaningless.
    private func opens(
        _ chunk: UnsafeRawBufferPointer,
        into content: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) -> Bool {
        let count = chunk.count - Self.tagSize
        precondition(content.count >= count)
        let start = unsafe chunk.bindMemory(to: UInt8.self).baseAddress
        let target = unsafe content.bindMemory(to: UInt8.self).baseAddress
        // OpenSSL copies the tag before anything is written.
        let tag = unsafe UnsafeMutableRawPointer(mutating: start?.advanced(by: count))
        let nonce = Self.nonce(ofChunk: number, isLast: isLast)
        var last: (UInt64, UInt64) = (0, 0)
        var written: CInt = 0
        return unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce, 0) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(Self.tagSize), tag) == 1
            && (count == 0 || EVP_CipherUpdate(context, target, &written, start, CInt(count)) == 1)
            && withUnsafeMutableBytes(of: &last) { last in
                let last = unsafe last.bindMemory(to: UInt8.self).baseAddress
                return unsafe EVP_CipherFinal_ex(context, last, &written) == 1
            }
    }

    /// The chunk's number in eleven bytes, whose first three are always zero, and the mark of
    /// the last chunk.
    private static func nonce(ofChunk number: UInt64, isLast: Bool) -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 {
            nonce[10 - index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
        }
        nonce[11] = isLast ? 1 : 0
        return nonce
    }
}

// MARK: - File keys

/// A file key is sealed with a key that is used once, so its nonce is that of a first chunk: zeros.
extension ChunkCipher {
    /// Encrypts a file key.
    static func wrap(_ fileKey: Secret, with key: Secret) -> [UInt8] {
        var body = [UInt8](repeating: 0, count: fileKey.count + tagSize)
        unsafe body.withUnsafeMutableBytes { body in
            unsafe fileKey.withBytes { fileKey in
                unsafe ChunkCipher(key).seal([fileKey], into: body, number: 0, isLast: false)
            }
        }
        return body
    }

    /// Decrypts a file key; `nil` if it was encrypted with another key.
    static func unwrap(_ body: [UInt8], with key: Secret) -> Secret? {
        guard body.count >= tagSize else { return nil }
        var bytes = body
        defer { Secret.wipe(&bytes) }
        let isRight = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe ChunkCipher(key).opens(.init(bytes), into: bytes, number: 0, isLast: false)
        }
        return isRight ? Secret(copying: bytes.dropLast(tagSize)) : nil
    }
}
