/// Turns bytes that come from a file system or an archive into text that is safe to print.
package enum PrintableText {
    /// Returns `bytes` as text that neither moves a cursor nor hides anything.
    ///
    /// Control characters, characters that reverse or hide text, and bytes that are not valid UTF-8
    /// become backslash escapes (`\n`, `\t`, `\u{202E}`, `\xE9`); a backslash is doubled. A joiner
    /// between two emoji is kept.
    ///
    /// - Parameter bytes: A name or another text, in UTF-8 or not.
    /// - Returns: Text that may be printed.
    package static func escaping(_ bytes: [UInt8]) -> String {
        if isPrintable(bytes) { return String(decoding: bytes, as: UTF8.self) }
        var text = ""
        var joiner = EmojiJoiner()
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var position = 0
        parsing: while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if joiner.holds(scalar) {
                    position += encoded.count
                    continue parsing
                }
                joiner.release(before: scalar, to: &text)
                append(scalar, to: &text)
                position += encoded.count
            case .error(let length):
                joiner.release(before: nil, to: &text)
                for byte in bytes[position..<position + length] { appendHex(byte, to: &text) }
                position += length
            case .emptyInput:
                break parsing
            }
        }
        joiner.release(before: nil, to: &text)
        return text
    }

    /// Returns the bytes whose ``escaping(_:)-([UInt8])`` is `text`; `nil` if it has no escape, or
    /// an invalid one.
    ///
    /// - Parameter text: Text as it was printed.
    /// - Returns: The bytes.
    package static func unescaping(_ text: [UInt8]) -> [UInt8]? {
        let backslash = UInt8(ascii: "\\")
        guard text.contains(backslash) else { return nil }
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == backslash else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst().map({ Character(Unicode.Scalar($0)) }) {
            case "n": bytes.append(UInt8(ascii: "\n"))
            case "t": bytes.append(UInt8(ascii: "\t"))
            case "r": bytes.append(UInt8(ascii: "\r"))
            case "\\": bytes.append(backslash)
            case "x":
                guard rest.count >= 2, let value = hexadecimal(rest.prefix(2)) else { return nil }
                bytes.append(UInt8(value))
                rest = rest.dropFirst(2)
            case "u":
                guard rest.popFirst() == UInt8(ascii: "{"),
                    let end = rest.prefix(9).firstIndex(of: UInt8(ascii: "}")),
                    let scalar = hexadecimal(rest[..<end]).flatMap(Unicode.Scalar.init)
                else { return nil }
                bytes += String(Character(scalar)).utf8
                rest = rest[(end + 1)...]
            default: return nil
            }
        }
        return bytes
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt32? {
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Appends `bytes` to `text` in the form that ``escaping(_:)-([UInt8])`` returns.
    ///
    /// - Parameters:
    ///   - bytes: A name or another text, in UTF-8 or not.
    ///   - text: Text in UTF-8.
    package static func append(escaping bytes: [UInt8], to text: inout [UInt8]) {
        if isPrintable(bytes) {
            text.append(copying: bytes.span)
        } else {
            text.append(contentsOf: escaping(bytes).utf8)
        }
    }

    private static func isPrintable(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { (0x20...0x7E) ~= $0 && $0 != UInt8(ascii: "\\") }
    }

    /// Returns `path` as text that neither moves a cursor nor hides anything.
    ///
    /// - Parameter path: A path, in UTF-8 or not.
    /// - Returns: Text that may be printed.
    package static func escaping(_ path: BytePath) -> String {
        escaping(path.bytes)
    }

    /// Returns `string` as text that neither moves a cursor nor hides anything.
    ///
    /// - Parameter string: Any text.
    /// - Returns: Text that may be printed.
    package static func escaping(_ string: String) -> String {
        escaping([UInt8](string.utf8))
    }

    /// Zero-width joiners that combine two emoji, which are printed; all others are escaped.
    private struct EmojiJoiner {
        private static let joiner = Unicode.Scalar("\u{200D}")
        private static let emojiPresentation = Unicode.Scalar("\u{FE0F}")

        private var isBehindEmoji = false
        private var isHeld = false

        /// Whether `scalar` is a joiner after an emoji; the next scalar decides what happens to it.
        mutating func holds(_ scalar: Unicode.Scalar) -> Bool {
            guard scalar == Self.joiner, isBehindEmoji, !isHeld else { return false }
            isHeld = true
            return true
        }

        /// Appends the joiner that is held, if there is one; `scalar` follows.
        mutating func release(before scalar: Unicode.Scalar?, to text: inout String) {
            let isEmoji = scalar.map { $0.properties.isEmoji && !$0.isASCII } ?? false
            if isHeld, isEmoji { text.unicodeScalars.append(Self.joiner) }
            if isHeld, !isEmoji { PrintableText.append(Self.joiner, to: &text) }
            isHeld = false
            isBehindEmoji = isEmoji || isBehindEmoji && scalar == Self.emojiPresentation
        }
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar {
        case "\n": text += "\\n"
        case "\t": text += "\\t"
        case "\r": text += "\\r"
        case "\\": text += "\\\\"
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
                .privateUse:
                if scalar.value < 0x80 {
                    appendHex(UInt8(scalar.value), to: &text)
                } else {
                    text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    private static func appendHex(_ byte: UInt8, to text: inout String) {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "\\x" + (digits.count == 1 ? "0" : "") + digits
    }
}
