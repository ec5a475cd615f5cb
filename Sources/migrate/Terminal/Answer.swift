internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// The answer of a command: one model, shown as text or as JSON.
protocol Answer: Encodable, Sendable {
    /// The name of the JSON Schema that the answer matches, such as `migrate/status/1`.
    var schema: String { get }

    /// The answer for a person, each line ended.
    var text: String { get }
}

extension TextOutput {
    /// Appends `answer` as text or as JSON.
    func write(_ answer: some Answer, inJSON: Bool) throws {
        try write(inJSON ? JSONText.document(answer) : answer.text)
    }
}

// MARK: - Rows

/// One line of a long answer: text, or an element of a JSON array.
protocol Row: Encodable {
    /// The name of the JSON Schema of a row that is a document of its own.
    static var schema: String { get }

    /// Appends the row for a person to `text`, without the end of the line.
    func append(to text: inout [UInt8])
}

/// The beginning of a JSON document whose last member is an array of rows.
protocol RowsHead: Encodable {
    /// The name of the document's JSON Schema.
    static var schema: String { get }

    /// The name of the array.
    static var rows: String { get }
}

/// The forms of an answer of many rows.
enum RowFormat: Sendable {
    /// Lines for a person.
    case text

    /// One JSON document.
    case json

    /// One JSON document a line.
    case jsonLines
}

/// Writes rows one by one, in constant memory.
final class RowOutput: Sendable {
    private let output: TextOutput
    private let format: RowFormat
    private let isEmpty = Monitor(true)

    init(to output: TextOutput, as format: RowFormat) {
        self.output = output
        self.format = format
    }

    /// Opens the document.
    func begin<Head: RowsHead>(_ head: Head) throws {
        guard format == .json else { return }
        let text = try JSONText.line(Described(content: head, schema: Head.schema))
        try output.write(text.dropLast() + ",\"\(Head.rows)\":[")
    }

    /// Appends `row`.
    func write<Written: Row>(_ row: Written) throws {
        switch format {
        case .text:
            try output.write { text in
                row.append(to: &text)
                text.append(UInt8(ascii: "\n"))
            }
        case .jsonLines:
            let document = Described(content: row, schema: Written.schema)
            try output.write(try JSONText.line(document) + "\n")
        case .json:
            let text = try JSONText.line(row)
            try isEmpty.withLock { isEmpty in
                try output.write((isEmpty ? "\n" : ",\n") + text)
                isEmpty = false
            }
        }
    }

    /// Closes the document; one that is not closed shows a reader that rows are missing.
    func end() throws(OutputError) {
        if format == .json { try output.write("\n]}\n") }
    }
}

/// A value with the name of its JSON Schema.
private struct Described<Content: Encodable>: Encodable {
    let content: Content
    let schema: String

    private enum CodingKeys: String, CodingKey {
        case schema
    }

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
    }
}

/// A path of any bytes as an object of its own.
struct EncodedPath: Encodable {
    private let path: ExactName

    private enum CodingKeys: String, CodingKey {
        case path, pathBase64
    }

    init(_ bytes: [UInt8]) {
        path = ExactName(bytes)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path, or: .pathBase64)
    }
}

// MARK: - Text and JSON

/// Names and values in two columns.
struct Table: Sendable {
    let rows: [(name: String, value: String)]

    var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.reduce("") { text, row in
            text + row.name + String(repeating: " ", count: width - row.name.count + 2) + row.value
                + "\n"
        }
    }
}

/// Encodes values as JSON that is safe to print.
enum JSONText {
    /// The document of `answer` over several lines, keys sorted.
    static func document(_ answer: some Answer) throws -> String {
        let value = Described(content: answer, schema: answer.schema)
        return try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + "\n"
    }

    /// The text of `value` in one line, keys sorted.
    static func line(_ value: some Encodable) throws -> String {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The document of `answer` in one line, keys sorted.
    static func lineOfDocument(_ answer: some Answer) throws -> String {
        try line(Described(content: answer, schema: answer.schema))
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

    /// Replaces characters that could move a cursor or hide text with equivalent `\u` escapes.
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
