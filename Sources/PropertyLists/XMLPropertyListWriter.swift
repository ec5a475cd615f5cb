extension PropertyListValue {
    /// Writes the value as a property list in XML, with its keys in the order of their bytes.
    ///
    /// - Returns: The list, as Apple's programs write it. A date loses its fraction of a second.
    /// - Throws: ``PropertyListError`` if XML can't hold a value: the number of an object in a
    ///   keyed archive, a date outside the years 0 to 9999, or a text with control characters.
    package func xml() throws(PropertyListError) -> [UInt8] {
        var writer = XMLPropertyListWriter()
        try writer.append(self, level: 0)
        return writer.finish()
    }
}

/// Writes the elements of Apple's `PropertyList-1.0.dtd`.
private struct XMLPropertyListWriter {
    private var text = [UInt8](
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """.utf8
    )

    consuming func finish() -> [UInt8] {
        text + [UInt8]("</plist>\n".utf8)
    }

    mutating func append(_ value: PropertyListValue, level: Int) throws(PropertyListError) {
        switch value {
        case .string(let text): try append("string", text, level)
        case .integer(let number): try append("integer", String(number), level)
        case .unsigned(let number): try append("integer", String(number), level)
        case .real(let number): try append("real", Self.text(of: number), level)
        case .boolean(let isTrue): line(isTrue ? "<true/>" : "<false/>", level)
        case .date(let seconds):
            guard let date = PropertyListDate.text(seconds) else {
                throw PropertyListError("it holds a date outside the years 0 to 9999")
            }
            try append("date", date, level)
        case .data(let bytes):
            line("<data>\(String(decoding: Base64.text(of: bytes), as: UTF8.self))</data>", level)
        case .array(let values): try append(values, level)
        case .dictionary(let members): try append(members, level)
        case .uid: throw PropertyListError("it refers to an object of a keyed archive")
        }
    }

    private mutating func append(
        _ values: [PropertyListValue],
        _ level: Int
    ) throws(PropertyListError) {
        guard !values.isEmpty else { return line("<array/>", level) }
        line("<array>", level)
        for value in values { try append(value, level: level + 1) }
        line("</array>", level)
    }

    private mutating func append(
        _ members: [String: PropertyListValue],
        _ level: Int
    ) throws(PropertyListError) {
        guard !members.isEmpty else { return line("<dict/>", level) }
        line("<dict>", level)
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (key, value) in sorted {
            try append("key", key, level + 1)
            try append(value, level: level + 1)
        }
        line("</dict>", level)
    }

    private mutating func append(
        _ element: String,
        _ content: String,
        _ level: Int
    ) throws(PropertyListError) {
        line("<\(element)>\(try Self.escaping(content))</\(element)>", level)
    }

    private mutating func line(_ content: String, _ level: Int) {
        text += [UInt8](repeating: UInt8(ascii: "\t"), count: level)
        text += content.utf8
        text.append(UInt8(ascii: "\n"))
    }

    private static func text(of number: Double) -> String {
        if number.isNaN { return "nan" }
        guard number.isInfinite else { return String(number) }
        return number < 0 ? "-infinity" : "+infinity"
    }

    private static func escaping(_ text: String) throws(PropertyListError) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            // A reader of XML turns a carriage return into a line feed (XML 1.0, section 2.11).
            case "\r": escaped += "&#13;"
            case "\t", "\n": escaped.unicodeScalars.append(character)
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}":
                throw PropertyListError("it holds a text with characters that XML can't hold")
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
