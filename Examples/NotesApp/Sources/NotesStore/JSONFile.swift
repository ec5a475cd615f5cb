import Foundation

/// Reads and writes values in the form of the app's files.
enum JSONFile {
    static func read<Value: Decodable>(_ type: Value.Type, from file: URL) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(contentsOf: file))
    }

    /// Replaces the content of the file with `value`, completely or not at all.
    static func write(_ value: some Encodable, to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try file.makeParent()
        try encoder.encode(value).write(to: file, options: .atomic)
    }
}
