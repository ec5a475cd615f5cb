internal import CLibcrypto

/// The payload of an age file: chunks that are each sealed with their number and a mark for the last
/// one (STREAM).
struct PayloadStream: ~Copyable {
    /// The bytes of every chunk but the last.
    static let chunkSize = 64 * 1024
    /// The same, sealed.
    static let sealedSize = chunkSize + ChunkCipher.tagSize
    /// The bytes before the first chunk.
    static let nonceSize = 16

    private let cipher: ChunkCipher

    init(_ key: PayloadKey) {
        cipher = ChunkCipher(key.secret)
    }

    /// Seals `pieces` into a chunk, which is as long as they and a tag, and may lie where they lie.
    func seal(
        _ pieces: [UnsafeRawBufferPointer],
        into chunk: UnsafeMutableRawBufferPointer,
        number: UInt64,
        isLast: Bool
    ) {
        unsafe cipher.seal(pieces, into: chunk, nonce: Self.nonce(number, isLast))
    }

    /// Opens a chunk into `content`, which is as long as the chunk without its tag.
    ///
    /// Both may begin at the same place. Where the chunk is not sound, `content` is filled with zeros.
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
        unsafe cipher.open(chunk, into: content, nonce: Self.nonce(number, isLast))
    }

    /// Eleven bytes with the chunk's number, the first three of which are always zero, and the mark of
    /// the last chunk.
    private static func nonce(_ number: UInt64, _ isLast: Bool) -> [UInt8] {
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
