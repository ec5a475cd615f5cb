internal import MigrationCore
internal import MigrationSystem

/// The flags that say what an export leaves out.
struct ExclusionFlags: FlagGroup {
    private var given: [PathPattern] = []
    private var files: [BytePath] = []

    static let topic: FlagTopic? = .container

    static var flags: [Flag<Self>] {
        Flag("exclude", short: "x", value: "pattern", as: .pathPattern, appendingTo: \.given)
            .help(
                "Leave out files that match the pattern, such as '*.tmp' or '/Library/**/cache'; "
                    + "may be repeated."
            )
        Flag("exclude-from", value: "file", as: .path, appendingTo: \.files)
            .help(
                "Leave out what matches a pattern in this file, one per line; lines that begin "
                    + "with '#' are comments; may be repeated."
            )
    }

    /// All patterns, those in files too.
    func patterns() throws -> [PathPattern] {
        try given + files.flatMap { try PatternFile.read($0) }
    }
}

/// A file of patterns, one per line.
private enum PatternFile {
    /// Reads the patterns in the file at `path`; empty lines and those that begin with `#` are comments.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` that names the line of a bad pattern.
    static func read(_ path: BytePath) throws -> [PathPattern] {
        let content = try InputFile.read(path, limit: 1 << 20)
        var patterns: [PathPattern] = []
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: line, as: UTF8.self) else {
                let message = "line \(index + 1) of the patterns is not valid UTF-8"
                throw MigrationError(.invalidOption, message, path: path)
            }
            do throws(MigrationError) {
                patterns.append(try PathPattern(text))
            } catch {
                let message = "line \(index + 1) of the patterns: \(error.message)"
                throw MigrationError(.invalidOption, message, path: path)
            }
        }
        return patterns
    }
}
