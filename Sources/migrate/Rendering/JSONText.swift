import Foundation

/// Encodes values as JSON that is safe to print.
enum JSONText {
    /// The document of `value` over several lines, keys sorted.
    static func document(_ value: some Encodable) throws -> String {
        try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + "\n"
    }

    /// The text of `value` in one line, keys sorted.
    static func line(_ value: some Encodable) throws -> String {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The Base64 form of bytes that no JSON string can hold; `nil` for UTF-8.
    static func base64(of bytes: [UInt8]) -> String? {
        let isText = String(validating: bytes, as: UTF8.self) != nil
        return isText ? nil : Data(bytes).base64EncodedString()
    }

    private static func text(
        of value: some Encodable,
        _ formatting: JSONEncoder.OutputFormatting
    ) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        return text.utf8.allSatisfy { $0 < 0x7F } ? text : escapingUnprintable(text)
    }

    /// Writes what would move a cursor or hide text as `\u` escapes, which mean the same in JSON.
    private static func escapingUnprintable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar.value >= 0x7F, .format, .lineSeparator,
                .paragraphSeparator, .unassigned, .privateUse:
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
