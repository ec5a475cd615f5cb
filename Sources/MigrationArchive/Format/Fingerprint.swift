internal import CLibcrypto

/// The SHA-256 that identifies what an archive holds: its entries with their content and order, and the
/// fields of its header that describe the data.
///
/// The same data has the same fingerprint whatever the compression, the number of threads and the
/// program that wrote the archive. Without a signature, a fingerprint protects against accidents,
/// not against someone who can rewrite the archive.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a fingerprint as ``description`` writes it.
    ///
    /// - Parameter text: 64 hexadecimal digits, in lower or upper case; the result is `nil` for any other text.
    public init?(_ text: String) {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2 * SHA256Digest.size else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.init(bytes: bytes)
    }

    /// The hash in 64 hexadecimal digits.
    public var description: String {
        var text = ""
        for byte in bytes {
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16)
        }
        return text
    }
}

// MARK: - SHA-256

/// SHA-256 of bytes in memory, by the system's cryptographic library.
package enum SHA256Digest {
    /// The size of a hash.
    static let size = 32

    /// The hash of `bytes`.
    package static func hash(of bytes: [UInt8]) -> [UInt8] {
        var hasher = SHA256Hasher()
        hasher.update(bytes.span)
        return hasher.finish()
    }

    /// The hash of a piece: the content of `buffer`, and then the marks of the entries that begin in it.
    static func hash(ofPiece buffer: FrameBuffer) -> [UInt8] {
        let marks = (buffer.marks ?? []).encoded
        var hasher = SHA256Hasher()
        buffer.withContent { hasher.update($0) }
        hasher.update(marks.span.extracting(droppingFirst: EntryMark.frameHeadSize))
        return hasher.finish()
    }
}

/// Computes the SHA-256 of bytes that come one after another.
@safe
struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer?
    private var isHashed: Bool

    init() {
        Libcrypto.setUp()
        unsafe context = EVP_MD_CTX_new()
        isHashed = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds `bytes` after all others.
    mutating func update(_ bytes: Span<UInt8>) {
        isHashed = unsafe bytes.withUnsafeBytes { bytes in
            unsafe isHashed && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
        }
    }

    /// The hash of all bytes.
    consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256Digest.size)
        isHashed = unsafe isHashed && EVP_DigestFinal_ex(context, &digest, nil) == 1
        // Fails only if memory is exhausted.
        precondition(isHashed, "libcrypto can't hash")
        return digest
    }
}
