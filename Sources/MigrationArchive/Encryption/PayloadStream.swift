/// The payload of an age file: chunks that are each sealed with their number and whether they are
/// the last (STREAM).
struct PayloadStream: ~Copyable {
    /// The bytes of every chunk but the last.
    static let chunkSize = 64 * 1024
    /// The same, sealed.
    static let sealedSize = chunkSize + ChunkCipher.tagSize
    /// The bytes before the first chunk.
    static let nonceSize = 16

    private let cipher: ChunkCipher

    init(fileKey: Secret, nonce: [UInt8]) {
        cipher = ChunkCipher(KeyDerivation.hkdf(fileKey, salt: nonce, info: "payload"))
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

    /// Opens the chunk in `count` bytes of `bytes` from `start`.
    func open(
        _ bytes: inout [UInt8],
        from start: Int,
        count: Int,
        number: UInt64,
        isLast: Bool
    ) throws(ArchiveError) {
        guard count > ChunkCipher.tagSize || number == 0 && count == ChunkCipher.tagSize else {
            throw ArchiveError(
                number == 0 ? .truncated : .damaged,
                "the encrypted archive is cut short, or bytes follow its end"
            )
        }
        let sealed = isLast && count == Self.sealedSize ? Array(bytes[start..<start + count]) : []
        if opens(&bytes, from: start, count: count, number: number, isLast: isLast) { return }
        if isLast, !sealed.isEmpty {
            bytes.replaceSubrange(start..<start + count, with: sealed)
            if opens(&bytes, from: start, count: count, number: number, isLast: false) {
                let message = "the encrypted archive is cut short: it ends after chunk \(number)"
                throw ArchiveError(.truncated, "\(message), which is not its last")
            }
        }
        let problem =
            isLast
            ? "is damaged or cut short, or bytes follow it" : "is not the one that was written"
        let name = isLast ? "the last chunk of the encrypted archive" : "chunk \(number)"
        throw ArchiveError(
            .damaged,
            isLast ? "\(name) \(problem)" : "\(name) of the encrypted archive \(problem)"
        )
    }

    private func opens(
        _ bytes: inout [UInt8],
        from start: Int,
        count: Int,
        number: UInt64,
        isLast: Bool
    ) -> Bool {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            let chunk = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + count])
            return unsafe cipher.open(chunk, nonce: Self.nonce(number, isLast))
        }
    }

    /// Eleven bytes of the chunk's number, the first three of which are always zero, and the mark of
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
