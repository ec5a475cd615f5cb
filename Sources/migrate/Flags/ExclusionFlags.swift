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

    /// All patterns, including those in files.
    func patterns() throws -> [PathPattern] {
        try given
            + files.flatMap {
                try PathPattern.list(
                    in: InputFile.read($0, of: "--exclude-from", limit: 1 << 20),
                    ofFileAt: $0
                )
            }
    }
}
