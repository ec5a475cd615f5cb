package import MigrationSystem

/// Turns bytes that come from a file system or an archive into text that is safe to print.
package enum PrintableText {
    /// Returns `bytes` as text that neither moves a cursor nor hides anything.
    ///
    /// Control characters, characters that reverse or hide text, and bytes that are not valid UTF-8 become
    /// backslash escapes (`\n`, `\t`, `\u{202E}`, `\xE9`); a backslash is doubled.
    ///
    /// - Parameter bytes: A name or another text, in UTF-8 or not.
    /// - Returns: Text that may be printed.
    package static func escaping(_ bytes: [UInt8]) -> String {
        if isPrintable(bytes) { return String(decoding: bytes, as: UTF8.self) }
        var text = ""
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var position = 0
        parsing: while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let encoded):
                append(Unicode.UTF8.decode(encoded), to: &text)
                position += encoded.count
            case .error(let length):
                for byte in bytes[position..<position + length] { appendHex(byte, to: &text) }
                position += length
            case .emptyInput:
                break parsing
            }
        }
        return text
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
