internal import AndroidMigration
internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem
internal import StoreMigration

/// The message about an error: the operation that failed, its subject, the cause and a hint.
///
/// It is one line, unless it quotes output of another program. Quoted lines follow indented, so
/// none can pass for a message of this program.
struct ErrorMessage: CustomStringConvertible {
    /// The operation that an error ended.
    struct Operation: Sendable {
        /// The name of the command.
        let name: String

        /// The file or directory that the operation worked on.
        let subject: String

        /// The flag that helps, if any.
        var hint: String?
    }

    private static let margin = "\n    "

    let description: String

    /// Makes the text of an error that ended `operation`, if one had begun.
    init(_ error: any Error, of operation: Operation? = nil) {
        let description = Self.text(of: error)
            .split(separator: "\n")
            .map { PrintableText.escapingRest(of: String($0)) }
            .joined(separator: Self.margin)
        guard let operation else {
            self.description = description
            return
        }
        let (name, subject) = (operation.name, operation.subject)
        let isNamed = (error as? MigrationError)?.isAbout(subject) ?? false
        self.description =
            (isNamed ? name : "\(name) \(subject)") + ": " + description
            + (operation.hint.map { "; \($0)" } ?? "")
    }

    private static func text(of error: any Error) -> String {
        switch error {
        case let error as MigrationError: text(of: error)
        case let error as ArchiveError: error.description
        case let error as AndroidMigrationError: error.description
        case let error as StoreMigrationError:
            error.message + (error.cause.map { ": \($0)" } ?? "")
        case let error as SystemError: error.description
        case let error as OutputError: error.description
        case let error as ProgramStartError: error.description
        case is CancellationError: "the operation was cancelled"
        case let error as NSError: "\(error.localizedDescription) (\(error.domain) \(error.code))"
        default: "\(error)"
        }
    }

    private static func text(of error: MigrationError) -> String {
        let parts: [String?] = [error.message, error.path, error.cause.map { text(of: $0) }]
        let line = parts.compactMap(\.self).joined(separator: ": ")
        guard !error.printedLines.isEmpty else { return line }
        return line + "; it printed last:\n" + error.printedLines.joined(separator: "\n")
    }
}

extension MigrationError {
    /// Whether this error names `subject`, which may be a relative path.
    fileprivate func isAbout(_ subject: String) -> Bool {
        guard let path else { return false }
        var name = subject[...]
        while name.hasPrefix("./") { name.removeFirst(2) }
        while name.count > 1, name.last == "/" { name.removeLast() }
        return path == subject || path == name || path.hasSuffix("/" + name)
    }
}

extension PrintableText {
    /// Escapes the parts of `text` that are not escaped yet.
    static func escapingRest(of text: String) -> String {
        text.split(separator: "\\", omittingEmptySubsequences: false)
            .map { escaping(String($0)) }
            .joined(separator: "\\")
    }
}

/// An error about a program that could not be started.
struct ProgramStartError: Error, CustomStringConvertible {
    let commandLine: [[UInt8]]
    let cause: SystemError

    var description: String {
        "the command can't be run: \(PrintableText.escaping(commandLine.first ?? [])): \(cause)"
    }
}
