import AndroidMigration
import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem

/// The operation that failed and what went wrong, naming what the command worked on once.
///
/// It is one line, unless it quotes what another program printed: that follows in lines of its own,
/// indented so that none can pass for a message of this one.
struct ErrorText: CustomStringConvertible {
    private static let margin = "\n    "

    let description: String

    /// Makes the text of an error that ended `command`.
    init(_ error: any Error, from command: (any Command)?) {
        let description = Self.text(of: error)
            .split(separator: "\n")
            .map { PrintableText.escapingRest(of: String($0)) }
            .joined(separator: Self.margin)
        guard let command else {
            self.description = description
            return
        }
        let name = type(of: command).description.name
        let subject = command.subject(of: error)
        let isNamed = (error as? MigrationError)?.isAbout(subject) ?? false
        let hint = (error as? MigrationError).flatMap { Self.hint(for: $0.code, of: command) }
        self.description =
            (isNamed ? name : "\(name) \(subject)") + ": " + description
            + (hint.map { "; \($0)" } ?? "")
    }

    /// The option of `command` that helps, if one does.
    private static func hint(for code: MigrationError.Code, of command: any Command) -> String? {
        switch code {
        case .containerBusy: (command as? any LockingCommand)?.hintOfWait
        case .outputExists:
            type(of: command).description.options.contains { $0.name == "force" }
                ? "--force replaces it" : nil
        default: nil
        }
    }

    private static func text(of error: any Error) -> String {
        switch error {
        case let error as MigrationError: text(of: error)
        case let error as ArchiveError: error.description + DecryptionOptions.hint(for: error.code)
        case let error as AndroidMigrationError: error.description
        case let error as SystemError: error.description
        case let error as OutputError: error.description
        case let error as CommandFailure: error.description
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
    /// Whether the path that this names is `subject`, which may be relative.
    fileprivate func isAbout(_ subject: String) -> Bool {
        guard let path else { return false }
        var name = subject[...]
        while name.hasPrefix("./") { name.removeFirst(2) }
        while name.count > 1, name.last == "/" { name.removeLast() }
        return path == subject || path == name || path.hasSuffix("/" + name)
    }
}

extension PrintableText {
    /// Escapes what is left to escape in `text`, of which parts were escaped before.
    static func escapingRest(of text: String) -> String {
        text.split(separator: "\\", omittingEmptySubsequences: false)
            .map { escaping(String($0)) }
            .joined(separator: "\\")
    }
}
