/// How much of an error's text is carried between processes, and persisted.
///
/// A message and a persisted status have limits, above which they would say nothing at all.
package enum ErrorText {
    /// Shortens what an error says to a person.
    package static func description(_ text: String) -> String { shortened(text, to: 16 << 10) }

    /// Shortens what else an error says: why it failed, or what helps.
    package static func detail(_ text: String) -> String { shortened(text, to: 4 << 10) }

    /// How many bytes JSON writes for `text`.
    package static func writtenSize(of text: String) -> Int {
        text.utf8.reduce(0) { $0 + writtenSize(of: $1) }
    }

    /// Shortens the name of the domain that an error is of.
    package static func domain(_ text: String) -> String { shortened(text, to: 1 << 10) }

    /// Shortens the name that an extension gives itself.
    package static func name(_ text: String) -> String { shortened(text, to: 1 << 10) }

    /// Shortens the path that an error is about.
    package static func path(_ bytes: [UInt8]) -> [UInt8] {
        let limit = 4 << 10
        return bytes.count <= limit ? bytes : bytes.prefix(limit) + Array("…".utf8)
    }

    /// As many whole characters as JSON writes in `limit` bytes, and a mark where there are more.
    private static func shortened(_ text: String, to limit: Int) -> String {
        var room = limit
        for index in text.indices {
            room -= text[index].utf8.reduce(0) { $0 + writtenSize(of: $1) }
            if room < 0 { return text[..<index] + "…" }
        }
        return text
    }

    /// How many bytes JSON writes for a byte: control characters, quotes and backslashes are escaped.
    private static func writtenSize(of byte: UInt8) -> Int {
        switch byte {
        case ..<0x20, 0x7F: 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): 2
        default: 1
        }
    }
}
