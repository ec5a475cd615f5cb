import Foundation

/// Reads and writes values as the app's files keep them.
enum JSONFile {
    static func read<Value: Decodable>(_ type: Value.Type, from file: URL) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(contentsOf: file))
    }

    /// Writes `value` in place of what the file holds, all of it or nothing.
    static func write(_ value: some Encodable, to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try file.makeParent()
        try encoder.encode(value).write(to: file, options: .atomic)
    }
}
