internal import Foundation
internal import MigrationSystem

/// A JSON document in which the value of one key is read and replaced; all other bytes stay.
struct VersionedDocument {
    private let path: BytePath
    private let bytes: [UInt8]

    /// Reads the document at `path`.
    ///
    /// - Throws: ``StoreMigrationError`` with `damaged` if it isn't a JSON object in UTF-8.
    init(at path: BytePath) throws(StoreMigrationError) {
        self.path = path
        bytes = try StoreFiles.contents(of: path)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw damage("it is neither a SQLite file nor a JSON object; perhaps it is encrypted")
        }
        // For any problem, the error below says that this isn't a JSON object.
        let object = try? JSONSerialization.jsonObject(with: Data(bytes))
        guard object is [String: Any] else { throw damage("it is not a JSON object") }
        // Foundation reads the other encodings too, whose ASCII characters have zeros beside them.
        guard !bytes.contains(0) else {
            throw damage("it is a JSON object in UTF-16 or UTF-32, and only UTF-8 can be read")
        }
    }

    /// The text or the number of `key` in the outermost object; `nil` if the key is missing.
    func version(ofKey key: String) throws(StoreMigrationError) -> String? {
        guard let range = try value(ofKey: key) else { return nil }
        let value = bytes[range]
        // The document is valid JSON, so each value in it can be decoded.
        let decoded = try? JSONSerialization.jsonObject(
            with: Data(value),
            options: .fragmentsAllowed
        )
        if let text = decoded as? String { return text }
        // A number is compared by its spelling.
        guard let first = value.first, first == UInt8(ascii: "-") || Self.digits.contains(first)
        else { throw damage("its '\(key)' is neither a text nor a number") }
        return String(decoding: value, as: UTF8.self)
    }

    /// Writes the document with another version, a number if it was one.
    func write(_ version: StoreVersion, key: String) throws(StoreMigrationError) {
        let range = try value(ofKey: key)
        let wasText = range.map { bytes[$0.lowerBound] == Self.quote } ?? false
        let isNumber = !wasText && Int(version.text) != nil
        let spelling = isNumber ? [UInt8](version.text.utf8) : Self.quoting(version.text)
        var changed = bytes
        if let range {
            changed.replaceSubrange(range, with: spelling)
        } else {
            let (start, isEmpty) = try startOfMembers()
            let member = Self.quoting(key) + [UInt8(ascii: ":")] + spelling
            changed.insert(contentsOf: member + (isEmpty ? [] : [UInt8(ascii: ",")]), at: start)
        }
        try StoreFiles.replace(path, with: changed, store: path)
    }

    private func damage(_ message: String) -> StoreMigrationError {
        StoreMigrationError(.damaged, message, at: String(decoding: path.bytes, as: UTF8.self))
    }
}

// MARK: - Finding a value

extension VersionedDocument {
    private static var quote: UInt8 { UInt8(ascii: "\"") }
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private static func quoting(_ text: String) -> [UInt8] {
        // Encoding a string can't fail.
        [UInt8]((try? JSONEncoder().encode(text)) ?? Data("\"\"".utf8))
    }

    /// Where the members of the outermost object begin, and whether there are none.
    private func startOfMembers() throws(StoreMigrationError) -> (start: Int, isEmpty: Bool) {
        guard let brace = bytes.firstIndex(of: UInt8(ascii: "{")) else {
            throw damage("it is not a JSON object")
        }
        let next = bytes[(brace + 1)...].first { !Self.isSpace($0) }
        return (brace + 1, next == UInt8(ascii: "}"))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x0A, 0x0D, 0x09].contains(byte)
    }

    /// The bytes of the value of `key`; of the last one, if there are several.
    ///
    /// The document is known to be valid, so only strings and brackets matter.
    private func value(ofKey key: String) throws(StoreMigrationError) -> Range<Int>? {
        var position = try startOfMembers().start
        var found: Range<Int>?
        while let start = bytes[position...].firstIndex(of: Self.quote) {
            let end = endOfString(at: start)
            // A name that can't be decoded isn't the key.
            let name = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<end]))
            guard let colon = bytes[end...].firstIndex(of: UInt8(ascii: ":")) else { break }
            var first = colon + 1
            while first < bytes.count, Self.isSpace(bytes[first]) { first += 1 }
            let next = endOfValue(at: first)
            if name == key {
                var last = next
                while last > first, Self.isSpace(bytes[last - 1]) { last -= 1 }
                found = first..<last
            }
            position = next
        }
        return found
    }

    private func endOfString(at start: Int) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != Self.quote {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    /// The position of the comma or bracket that ends the value at `start`.
    private func endOfValue(at start: Int) -> Int {
        var (position, depth) = (start, 0)
        while position < bytes.count {
            switch bytes[position] {
            case Self.quote:
                position = endOfString(at: position)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return position
            default: break
            }
            position += 1
        }
        return position
    }
}
