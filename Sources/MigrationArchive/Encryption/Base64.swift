internal import CLibcrypto

/// Base64 (RFC 4648, section 4) that takes only what its own encoder makes.
enum Base64 {
    /// The text of `bytes`, with padding or without.
    static func encode(_ bytes: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_EncodeBlock(&text, bytes.baseAddress, CInt(bytes.count))
        }
        text.removeLast(text.count - Int(count))
        if !isPadded { while text.last == UInt8(ascii: "=") { text.removeLast() } }
        return text
    }

    /// The bytes of `text`; `nil` where it is not exactly what encoding them gives.
    static func decode(_ text: ArraySlice<UInt8>, isPadded: Bool) -> [UInt8]? {
        if text.isEmpty { return [] }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard isPadded ? padding <= 2 : padding == 0 else { return nil }
        var whole = Array(text)
        if !isPadded {
            while whole.count % 4 != 0 { whole.append(UInt8(ascii: "=")) }
        }
        guard whole.count % 4 == 0 else { return nil }
        let fill = whole.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard fill <= 2 else { return nil }
        var bytes = [UInt8](repeating: 0, count: whole.count / 4 * 3)
        let count = unsafe EVP_DecodeBlock(&bytes, whole, CInt(whole.count))
        guard count == bytes.count else { return nil }
        bytes.removeLast(fill)
        // The decoder is lenient: it passes over white space and bits that belong to no byte.
        guard encode(bytes[...], isPadded: isPadded)[...] == text else { return nil }
        return bytes
    }
}
