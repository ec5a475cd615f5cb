internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// A subcommand: its flags, its work and its answer.
protocol Command: ParsableCommand {
    /// The file or directory that the command works on, as messages name it.
    var subject: String { get }

    /// The file or directory that an error of this command is about.
    func subject(of error: any Error) -> String

    /// The exit code of this command for an error that ends it.
    func exitCode(for error: any Error) -> ExitCode

    /// Whether the command does nothing but print an answer.
    var onlyAnswers: Bool { get }

    /// The operation that `error` ended, with the flag that helps.
    func operation(endedBy error: any Error) -> ErrorMessage.Operation

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
    /// The file; `nil` for none.
    var resultFile: BytePath? { get }

    /// The container that the command works on.
    var container: BytePath { get }

    /// The archive that the command writes or reads.
    var archive: ArchiveName { get }
}

extension Command {
    func subject(of error: any Error) -> String { subject }

    func exitCode(for error: any Error) -> ExitCode { ExitCode(for: error) }

    var onlyAnswers: Bool { false }

    /// The operation that `error` ended.
    func operation(endedBy error: any Error) -> ErrorMessage.Operation {
        ErrorMessage.Operation(name: Self.name, subject: subject(of: error), hint: hint(for: error))
    }

    /// The flag of this command that helps against `error`, if any.
    private func hint(for error: any Error) -> ErrorMessage.Hint? {
        switch error {
        case _ where error.isOutOfSpace && Self.description.flags.contains { $0.name == "out" }:
            ErrorMessage.Hint(
                flag: "--out",
                advice: "'--out' may name a place with more space"
            )
        case let error as ArchiveError:
            DecryptionFlags.hint(for: error.code)
                ?? PathArguments.hint(for: error, among: Self.description.flags)
                ?? (error.isOfRefusedKind ? nil : hint(for: error.code))
        case let error as MigrationError: hint(for: error) ?? error.cause.flatMap(hint)
        default: nil
        }
    }

    /// The flag or the command that helps against an error of an archive.
    private func hint(for code: ArchiveError.Code) -> ErrorMessage.Hint? {
        if code == .externalLink {
            guard self is ImportCommand || self is ExtractCommand || self is VerifyCommand else {
                return nil
            }
            return ErrorMessage.Hint(
                flag: "--external-links",
                advice: "'--external-links skip' leaves such links out, and 'keep' keeps them"
            )
        }
        guard self is ImportCommand || self is ExtractCommand,
            [.damaged, .truncated, .refused, .entryExists].contains(code)
        else { return nil }
        return ErrorMessage.Hint(
            flag: "--keep-going",
            advice: self is ImportCommand
                ? "'migrate verify' checks the archive, and 'migrate extract --keep-going' restores "
                    + "what can be proved"
                : "--keep-going restores what can be proved"
        )
    }

    private func hint(for error: MigrationError) -> ErrorMessage.Hint? {
        switch error.code {
        case .containerBusy: (self as? any LockingCommand)?.waitHint
        case .outputExists where (self as? ExtractCommand)?.merges == false:
            ErrorMessage.Hint(
                flag: "--merge",
                advice: "use --merge to extract into directories that are there"
            )
        case .outputExists where (self as? any ReplacingCommand)?.replacesExisting == false:
            ErrorMessage.Hint(flag: "--force", advice: "use --force to replace it")
        case .containerHoldsData where self is ImportCommand || self is ReceiveCommand:
            ErrorMessage.Hint(flag: "--replace", advice: "use --replace to replace it")
        case .commandFailed
        where self is SendCommand && (error.cause as? ReceiverFailure)?.isOfMissingCommand == true:
            ErrorMessage.Hint(
                flag: "--remote-command",
                advice: "'--remote-command' names 'migrate' there, for example by its path"
            )
        case .statusUnreadable where self is StatusCommand && !(error.cause is SystemError):
            ErrorMessage.Hint(flag: "--clear", advice: "use --clear to clear it")
        case .outputFailed
        where (self as? ExportCommand)?.archive.path.parent == error.bytePath
            && (error.cause as? SystemError)?.isMissing == true:
            ErrorMessage.Hint(flag: "--out", advice: "the directory of --out must exist")
        default: nil
        }
    }
}

/// A command with a flag that replaces an existing output file.
protocol ReplacingCommand: Command {
    /// Whether an existing file may be replaced.
    var replacesExisting: Bool { get }
}

/// A command that locks a container.
protocol LockingCommand: Command {
    /// The longest time that it waits for another process to release the container.
    var waitLimit: Duration { get }
}

extension LockingCommand {
    /// The host that does the command's work.
    func host(on console: Console) -> MigrationHost {
        var host = MigrationHost()
        host.waitLimit = waitLimit
        host.waitHandler = { [waitLimit] reason in
            let limit = waitLimit.formatted(.units(allowed: [.minutes, .seconds], width: .narrow))
            console.tell("migrate: \(reason.message); waiting at most \(limit)")
        }
        return host
    }

    /// The hint for an error that names another process that uses the container.
    fileprivate var waitHint: ErrorMessage.Hint? {
        guard waitLimit == .zero else { return nil }
        return ErrorMessage.Hint(flag: "--wait", advice: "use --wait <s> to wait for it")
    }
}

extension Error {
    /// Whether writing the output failed, whatever the archive holds.
    var isOfOutput: Bool {
        guard let error = self as? ArchiveError else { return false }
        return error.code == .outOfSpace || error.code == .outputFailed
    }

    /// Whether there is no space left for what was written.
    fileprivate var isOutOfSpace: Bool {
        (self as? ArchiveError)?.code == .outOfSpace
            || (self as? MigrationError)?.code == .outOfSpace
    }
}
