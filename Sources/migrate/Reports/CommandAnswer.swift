internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The result of the command that took or gave the archive, as a part of an answer.
struct CommandAnswer: Encodable, Sendable {
    private let exitCode: Int32?
    private let printed: [String]

    init(_ result: StreamCommand.Result) {
        exitCode = result.exitCode
        printed = result.printedLines
    }

    /// The lines that the command printed, each indented.
    var text: String {
        guard !printed.isEmpty else { return "" }
        return "the command printed:\n"
            + printed.map { "    \(PrintableText.escaping($0))\n" }.joined()
    }
}
