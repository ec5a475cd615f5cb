/// The SHA-256 that stands for a whole archive: its frames, their order and its totals.
///
/// Two archives of the same fingerprint hold the same bytes. Without a signature over it, a
/// fingerprint proves integrity against accident, not against someone who can rewrite the archive.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
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
