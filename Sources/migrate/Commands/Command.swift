internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// A subcommand: its flags, its work and its answer.
protocol Command: CommandOfOptions {
    /// The file or directory that the command works on, for messages.
    var subject: String { get }

    /// The file or directory that the command writes, for messages.
    var outputSubject: String { get }

    /// The file or directory that an error of this command is about.
    func subject(of error: any Error) -> String

    /// The exit code of this command for an error that ends it.
    func exitCode(for error: any Error) -> ExitCode

    /// Whether the command only prints an answer.
    var onlyAnswers: Bool { get }

    /// Does the work and prints the answer.
    func run(in context: CommandContext) async throws -> ExitCode
}

/// The process that a command runs in: its streams, its signals, and the program's commands.
struct CommandContext: Sendable {
    var console = Console()
    var signals: SignalWatch?
    var tree: CommandTree

    /// Notes about the command's run, for its line in a file of results.
    let outcome = RunOutcome()
}

/// A command that appends a line about its run to a file.
protocol RecordedCommand: Command {
    /// The container that the command works on.
    var container: BytePath { get }

    /// The archive that the command writes or reads.
    var archive: ArchiveName { get }
}

extension Command {
    var outputSubject: String { subject }

    func subject(of error: any Error) -> String {
        if let error = error as? StoreMigrationError { return PrintableText.escaping(error.path) }
        return error.isOfOutput ? outputSubject : subject
    }

    func exitCode(for error: any Error) -> ExitCode { ExitCode(for: error) }

    var onlyAnswers: Bool { false }

    /// The operation that `error` ended, with the flag that helps.
    func operation(endedBy error: any Error) -> ErrorMessage.Operation {
        ErrorMessage.Operation(
            name: Self.name,
            subject: subject(of: error),
            hint: ErrorMessage.Hint(
                for: error,
                in: FailedCommand(
                    description: Self.description,
                    given: given,
                    replacesExisting: common.replacesExisting,
                    archive: (self as? any RecordedCommand)?.archive
                )
            )
        )
    }
}

extension Error {
    /// Whether writing the output failed, which isn't the archive's fault.
    var isOfOutput: Bool {
        guard let error = self as? ArchiveError else { return false }
        return error.code == .outOfSpace || error.code == .outputFailed
    }
}
