import MigrationSystem

/// Writes rows one by one, so that their number needs no memory.
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

    /// Closes the array; without this call, a reader sees that rows are missing.
    func end() throws(OutputError) {
        if isJSON { try output.write("\n]\n") }
    }
}
