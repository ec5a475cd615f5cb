internal import CLibcrypto

/// The payload of an age file: chunks that are each sealed with their number and a mark for the last
/// one (STREAM).
struct PayloadStream: ~Copyable {
    /// The bytes of every chunk but the last.
    static let chunkSize = 64 * 1024
    static let sealedSize = chunkSize + ChunkCipher.tagSize
    /// The bytes before the first chunk.
    static let nonceSize = 16

    private let cipher: ChunkCipher

    init(_ key: PayloadKey) {
        cipher = ChunkCipher(key.secret)
    }

    /// Seals `pieces` into a chunk, which has room for them and a tag; both may begin at the same
    /// address.
    func seal(
        _ pieces: [UnsafeRawBufferPointer],
        into chunk: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) {
        unsafe cipher.seal(pieces, into: chunk, nonce: Self.nonce(ofChunk: number, isLast: isLast))
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
        guard chunk.count > ChunkCipher.tagSize || number == 0 && chunk.count == ChunkCipher.tagSize
        else {
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

    private func opens(
        _ chunk: UnsafeRawBufferPointer,
        into content: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) -> Bool {
        unsafe cipher.open(chunk, into: content, nonce: Self.nonce(ofChunk: number, isLast: isLast))
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

/// The key of a payload, which every thread that seals or opens chunks has a cipher for.
struct PayloadKey: Sendable {
    fileprivate let secret: Secret

    /// Derives the key from a file's key and the nonce before its first chunk.
    init(fileKey: Secret, nonce: [UInt8]) {
        secret = KeyDerivation.hkdf(fileKey, salt: nonce, info: "payload")
    }
}

// MARK: - One chunk

/// ChaCha20-Poly1305 (RFC 8439) with one key, in place.
@safe
struct ChunkCipher: ~Copyable {
    /// The bytes that sealing adds.
    static let tagSize = 16

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

    /// Encrypts `pieces`, one after the other, into all but the last 16 bytes of `bytes`, and puts
    /// the tag into those.
    func seal(
        _ pieces: [UnsafeRawBufferPointer],
        into bytes: UnsafeMutableRawBufferPointer,
        nonce: [UInt8]
    ) {
        var target = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
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

    /// Decrypts all but the last 16 bytes of `bytes` into `content`; both may begin at the same
    /// address.
    ///
    /// - Returns: Whether the last 16 bytes are the right tag; if not, `content` is meaningless.
    func open(
        _ bytes: UnsafeRawBufferPointer,
        into content: UnsafeMutableRawBufferPointer,
        nonce: [UInt8]
    ) -> Bool {
        let count = bytes.count - Self.tagSize
        guard count >= 0 else { return false }
        precondition(content.count >= count)
        let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
        let target = unsafe content.bindMemory(to: UInt8.self).baseAddress
        // OpenSSL copies the tag before anything is written.
        let tag = unsafe UnsafeMutableRawPointer(mutating: start?.advanced(by: count))
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

    /// Encrypts a file key with a key that is used once and therefore needs no nonce.
    static func wrap(_ fileKey: Secret, with key: Secret) -> [UInt8] {
        var body = [UInt8](repeating: 0, count: fileKey.count + tagSize)
        unsafe body.withUnsafeMutableBytes { body in
            let nonce = [UInt8](repeating: 0, count: 12)
            unsafe fileKey.withBytes { fileKey in
                unsafe ChunkCipher(key).seal([fileKey], into: body, nonce: nonce)
            }
        }
        return body
    }

    /// Decrypts a file key; `nil` if it was encrypted with another key.
    static func unwrap(_ body: [UInt8], with key: Secret) -> Secret? {
        var bytes = body
        defer { Secret.wipe(&bytes) }
        let isRight = unsafe bytes.withUnsafeMutableBytes { bytes in
            let nonce = [UInt8](repeating: 0, count: 12)
            return unsafe ChunkCipher(key).open(.init(bytes), into: bytes, nonce: nonce)
        }
        return isRight ? Secret(copying: bytes.dropLast(tagSize)) : nil
    }
}
