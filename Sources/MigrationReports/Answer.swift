internal import Foundation
package import MigrationCore
internal import MigrationSystem

/// The answer of a command: one model, shown as text or as JSON.
package protocol Answer: Encodable, Sendable {
    /// The name of the JSON Schema that the answer matches, such as `migrate/status/1`.
    var schema: String { get }

    /// The answer for a person, each line ended.
    var text: String { get }
}

extension TextOutput {
    /// Appends `answer` as text or as JSON.
    package func write(_ answer: some Answer, inJSON: Bool) throws {
        try write(inJSON ? JSONText.document(answer) : answer.text)
    }
}

// MARK: - Rows

/// One line of a long answer: text, or an element of a JSON array.
package protocol Row: Encodable {
    /// The name of the JSON Schema of a row that is a separate document.
    static var schema: String { get }

    /// Appends the row for a person to `text`, without the end of the line.
    func append(to text: inout [UInt8])
}

/// The beginning of a JSON document whose last member is an array of rows.
package protocol RowsHead: Encodable {
    /// The name of the document's JSON Schema.
    static var schema: String { get }

    /// The name of the array.
    static var rows: String { get }
}

/// The forms of an answer of many rows.
package enum RowFormat: Sendable {
    /// Lines for a person.
    case text

    /// One JSON document.
    case json

    /// One JSON document per line.
    case jsonLines
}

/// Writes rows one by one, in constant memory.
package final class RowOutput: Sendable {
    private let output: TextOutput
    private let format: RowFormat
    private let isEmpty = Monitor(true)

    package init(to output: TextOutput, as format: RowFormat) {
        self.output = output
        self.format = format
    }

    /// Opens the document.
    package func begin<Head: RowsHead>(_ head: Head) throws {
        guard format == .json else { return }
        let text = try JSONText.line(Described(content: head, schema: Head.schema))
        try output.write(text.dropLast() + ",\"\(Head.rows)\":[")
    }

    /// Appends `row`.
    package func write<Written: Row>(_ row: Written) throws {
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
    package func end() throws(OutputError) {
        if format == .json { try output.write("\n]}\n") }
    }
}

/// A value with the name of its JSON Schema.
private struct Described<Content: Encodable>: Encodable {
    let content: Content
    let schema: String

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        try (["schema": schema] as JSONMembers).encode(to: encoder)
    }
}

/// A value that is one JSON object, whose members are declared once.
package protocol JSONObject: Encodable {
    var members: JSONMembers { get }
}

extension JSONObject {
    package func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// The members of a JSON object by their names; those without a value are left out.
///
/// An ``ExactName`` that isn't text is in Base64, and its member's name then ends with `Base64`.
package struct JSONMembers: Encodable, ExpressibleByDictionaryLiteral {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// A member without a value that is included as `null`.
    private struct Null: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    /// The members, also those without a value.
    let list: [(name: String, value: (any Encodable)?)]

    package init(dictionaryLiteral members: (String, (any Encodable)?)...) {
        list = members.map { ($0.0, $0.1) }
    }

    init(_ list: [(name: String, value: (any Encodable)?)]) { self.list = list }

    /// The value of a member, or `null` without one.
    package static func orNull(_ value: (any Encodable)?) -> any Encodable { value ?? Null() }

    package static func + (left: JSONMembers, right: JSONMembers) -> JSONMembers {
        JSONMembers(left.list + right.list)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for case (let name, let value?) in list {
            let isEncoded = (value as? ExactName).map { $0.text == nil } ?? false
            try container.encode(
                value,
                forKey: Name(stringValue: name + (isEncoded ? "Base64" : ""))
            )
        }
    }
}

extension ExactName: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text ?? base64)
    }
}

// MARK: - Text and JSON

/// Names and values in two columns.
package struct Table: Sendable {
    private let rows: [(name: String, value: String)]

    package init(rows: [(name: String, value: String)]) { self.rows = rows }

    package var text: String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.reduce("") { text, row in
            text + row.name + String(repeating: " ", count: width - row.name.count + 2) + row.value
                + "\n"
        }
    }
}

/// Encodes values as JSON that is safe to print.
package enum JSONText {
    /// The document of `answer` over several lines, keys sorted.
    package static func document(_ answer: some Answer) throws -> String {
        let value = Described(content: answer, schema: answer.schema)
        return try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + "\n"
    }

    /// The text of `value` in one line, keys sorted.
    package static func line(_ value: some Encodable) throws -> String {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The document of `answer` in one line, keys sorted.
    package static func lineOfDocument(_ answer: some Answer) throws -> String {
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
