internal import AndroidMigration
internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// The message about an error: the operation that failed, its subject, the cause and a hint.
///
/// It is one line, unless it quotes output of another program. Quoted lines are indented, so they
/// can't be mistaken for messages of this program.
struct ErrorMessage: CustomStringConvertible {
    /// The operation that an error ended.
    struct Operation: Sendable {
        /// The name of the command.
        let name: String

        /// The file or directory that the operation worked on.
        let subject: String

        /// The remedy, if any.
        var hint: Hint?
    }

    /// A remedy for an error.
    struct Hint: Sendable {
        /// The flag that helps most, such as `--wait`; `nil` if another command helps.
        let flag: String?

        /// The advice for a person.
        let advice: String
    }

    private static let margin = "\n    "

    let description: String

    /// Makes the text of an error that ended `operation`, if one had begun.
    init(_ error: any Error, of operation: Operation? = nil) {
        let description = Self.text(of: error)
            .split(separator: "\n")
            .map { PrintableText.escapingRest(of: String($0)) }
            .joined(separator: Self.margin)
        let advice = [Hint(for: error), operation?.hint].compactMap { $0?.advice }
        guard let operation else {
            self.description = ([description] + advice).joined(separator: "; ")
            return
        }
        let (name, subject) = (operation.name, operation.subject)
        let isNamed = (error as? MigrationError)?.isAbout(subject) ?? false
        self.description =
            (isNamed ? name : "\(name) \(subject)") + ": "
            + ([description] + advice).joined(separator: "; ")
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

/// An error about a program that could not be started.
struct ProgramStartError: Error, CustomStringConvertible {
    let commandLine: [[UInt8]]
    let cause: SystemError

    var description: String {
        "the command can't be run: \(PrintableText.escaping(commandLine.first ?? [])): \(cause)"
    }
}

// MARK: - JSON

/// An error as a JSON document.
struct ErrorAnswer: Answer, JSONObject {
    /// The exit code.
    let code: ExitCode

    /// The name of the error, stable across releases.
    let name: String

    /// The message for a person.
    let message: String

    /// The file, directory or entry that the error is about, if it names one.
    var path: [UInt8]?

    /// The flag that helps, if any.
    var flag: String?

    var schema: String { "migrate/error/1" }

    var text: String { "\(message)\n" }

    var members: JSONMembers {
        [
            "code": code.rawValue, "flag": flag, "message": message, "name": name,
            "path": path.map(ExactName.init),
        ]
    }
}

extension ErrorAnswer {
    /// Makes the document of an error that ended `operation` with `code`.
    init(_ error: any Error, of operation: ErrorMessage.Operation?, code: ExitCode) {
        self.init(
            code: code,
            name: Self.name(of: error),
            message: ErrorMessage(error, of: operation).description,
            path: Self.path(of: error),
            flag: (operation?.hint ?? ErrorMessage.Hint(for: error))?.flag
        )
    }

    private static func name(of error: any Error) -> String {
        switch error {
        case let error as any CodedError: error.code.description
        case is UsageError: "usage"
        case is OutputError: "outputFailed"
        case is ProgramStartError: "commandNotStarted"
        case is CancellationError: "interrupted"
        case is SystemError: "systemError"
        default: "failure"
        }
    }

    private static func path(of error: any Error) -> [UInt8]? {
        guard let error = error as? any CodedError else { return nil }
        return error.pathBytes ?? error.underlying.flatMap(path)
    }
}
