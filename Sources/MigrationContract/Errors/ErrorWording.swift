internal import Foundation
internal import MigrationSystem

extension Error {
    /// The error's text for a person.
    ///
    /// Foundation on Linux ignores the text of a `LocalizedError` that is also a `CustomNSError`.
    package var wording: String {
        let bridged = self as NSError
        if bridged.userInfo[NSLocalizedDescriptionKey] == nil,
            let description = (self as? any LocalizedError)?.errorDescription
        {
            return description
        }
        return bridged.localizedDescription
    }

    /// The error's text for a person, without details for developers.
    package var wordsForPerson: String {
        switch self {
        case is CancellationError: "the operation was cancelled"
        case let error as MigrationError: error.wordsForPerson
        case let error as any DescribedError: error.description
        case let error as SystemError: error.description
        default: wording
        }
    }

    /// The error's text for a report: its own, or its value if it has none.
    package var wordsForReport: String {
        if self is CancellationError { return wordsForPerson }
        let hasWords =
            self is any LocalizedError || type(of: self) is NSError.Type
            || (self as NSError).userInfo[NSLocalizedDescriptionKey] != nil
        return hasWords ? wording : "\(self)"
    }
}

/// Shortens texts that are persisted or sent between processes.
///
/// A message and a persisted status have size limits, and one that exceeds its limit is lost.
package enum BoundedText {
    /// Shortens the description of an error.
    package static func description(_ text: String) -> String { shortened(text, to: 16 << 10) }

    /// Shortens another text of an error: the reason, or the advice.
    package static func detail(_ text: String) -> String { shortened(text, to: 4 << 10) }

    /// Shortens the domain of an error.
    package static func domain(_ text: String) -> String { shortened(text, to: 1 << 10) }

    /// Shortens an extension's name for itself.
    package static func name(_ text: String) -> String { shortened(text, to: 1 << 10) }

    /// Shortens the path of an error.
    package static func path(_ bytes: [UInt8]) -> [UInt8] {
        let limit = 4 << 10
        return bytes.count <= limit ? bytes : bytes.prefix(limit) + Array("…".utf8)
    }

    /// Returns the number of bytes that JSON needs for `text`.
    static func writtenSize(of text: String) -> Int {
        text.utf8.reduce(0) { $0 + writtenSize(of: $1) }
    }

    /// Keeps as many whole characters as fit into `limit` bytes of JSON, and marks a cut with `…`.
    private static func shortened(_ text: String, to limit: Int) -> String {
        var room = limit
        for index in text.indices {
            room -= text[index].utf8.reduce(0) { $0 + writtenSize(of: $1) }
            if room < 0 { return text[..<index] + "…" }
        }
        return text
    }

    /// Returns the number of bytes that JSON needs for a byte of text, which it may have to escape.
    private static func writtenSize(of byte: UInt8) -> Int {
        switch byte {
        case ..<0x20, 0x7F: 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): 2
        default: 1
        }
    }
}

extension Duration {
    /// The duration in words.
    package var text: String {
        formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
    }
}
