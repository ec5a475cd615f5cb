internal import Foundation
internal import MigrationSystem

/// The answer of a command: one model, shown as text or as JSON.
protocol Answer: Encodable, Sendable {
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
    /// The row for a person, without the end of the line.
    var line: String { get }
}

/// Writes rows one by one, in constant memory.
final class RowOutput: Sendable {
    private let output: TextOutput
    private let isJSON: Bool
    private let isEmpty = Monitor(true)

    init(to output: TextOutput, inJSON: Bool) {
        self.output = output
        isJSON = inJSON
    }

    /// Opens the array.
    func begin() throws(OutputError) {
        if isJSON { try output.write("[") }
    }

    /// Appends `row`.
    func write(_ row: some Row) throws {
        guard isJSON else { return try output.write(row.line + "\n") }
        let text = try JSONText.line(row)
        try isEmpty.withLock { isEmpty in
            try output.write((isEmpty ? "\n" : ",\n") + text)
            isEmpty = false
        }
    }

    /// Closes the array; an array that is not closed shows a reader that rows are missing.
    func end() throws(OutputError) {
        if isJSON { try output.write("\n]\n") }
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
    /// The document of `value` over several lines, keys sorted.
    static func document(_ value: some Encodable) throws -> String {
        try text(of: value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) + "\n"
    }

    /// The text of `value` in one line, keys sorted.
    static func line(_ value: some Encodable) throws -> String {
        try text(of: value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The Base64 form of bytes that are not valid UTF-8; `nil` for text.
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
