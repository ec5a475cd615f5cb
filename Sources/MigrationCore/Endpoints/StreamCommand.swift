internal import MigrationArchive
internal import MigrationSystem

/// The receiving end of an export, other than a file.
protocol ArchiveConsumer: Sendable {
    /// Starts it; returns where to write the archive, and the beginning of it that it has.
    func start(
        sizeEstimate: UInt64,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws -> (ArchiveOutput, ArchiveBeginning?)

    /// Lets it see the end of the complete archive, and waits until it has ended.
    func complete(closing output: ArchiveOutput) throws

    /// Ends it because the operation failed; returns the error to report: its own failure if that
    /// was the cause.
    func end(after error: any Error) -> any Error
}

/// A shell command that consumes the archive of an export, or produces that of an import.
///
/// It belongs to one operation. A command that consumes an archive sees its end only if the archive
/// is complete: otherwise the command is killed first. An operation succeeds only if the command
/// ends with 0.
package final class StreamCommand: ArchiveConsumer {
    /// The command's text; an export replaces `{bytes}` in it with the estimate of the content's bytes.
    package let text: [UInt8]

    private let started = Monitor<GuardedCommand?>(nil)

    package init(_ text: [UInt8]) {
        self.text = text
    }

    /// Its exit code; `nil` if it has not ended, or if a signal ended it.
    package var exitCode: Int32? {
        let ending = started.withLock { $0 }?.ending
        return if case .ended(.exited(let code)) = ending { code } else { nil }
    }

    /// The last lines that it printed.
    package var printedLines: [String] { started.withLock { $0 }?.printedLines ?? [] }

    // MARK: - Starting

    func start(
        sizeEstimate: UInt64,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws -> (ArchiveOutput, ArchiveBeginning?) {
        let text = text.replacing("{bytes}".utf8, with: "\(sizeEstimate)".utf8)
        let stream = try start(text, .taking)
        do {
            return (try ArchiveOutput(writing: stream, encryption: encryption, on: operation), nil)
        } catch {
            throw end(after: error)
        }
    }

    /// Starts the command that produces an archive; returns where to read it.
    func startGiving() throws -> FileDescriptor { try start(text, .giving) }

    private func start(
        _ text: [UInt8],
        _ direction: GuardedCommand.Direction
    ) throws -> FileDescriptor {
        do throws(SystemError) {
            let command = try GuardedCommand.start(text, direction: direction)
            started.withLock { $0 = command }
            return try command.openStream()
        } catch {
            throw MigrationError(.commandFailed, "the command can't be started", cause: error)
        }
    }

    // MARK: - Ending

    func complete(closing output: ArchiveOutput) throws {
        guard let command = started.withLock({ $0 }) else { return }
        let ending = command.complete(
            closing: { output.close() },
            unless: output.operation.cancellation
        )
        if output.operation.isCancelled, ending != .ended(.exited(0)) { throw CancellationError() }
        if let error = failure(ending, of: command) { throw error }
    }

    /// Reads the rest of the stream, and waits until the command has ended.
    ///
    /// Call it when the archive is known to be complete, before anything changes.
    func finish(_ operation: MigrationOperation) throws {
        guard let command = started.withLock({ $0 }) else { return }
        let stream = try command.openStream()
        let event = try CancellationEvent(of: operation.cancellation)
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var count = 1
        while count > 0 {
            count = try stream.read(into: &buffer, count: buffer.count, unless: event)
        }
        let ending = command.wait(unless: operation.cancellation)
        try operation.check()
        if let error = failure(ending, of: command) { throw error }
    }

    func end(after error: any Error) -> any Error {
        guard let command = started.withLock({ $0 }) else { return error }
        let ending = command.cancel()
        if error is CancellationError || (error as? MigrationError)?.code == .commandFailed {
            return error
        }
        return failure(ending, of: command, cause: error) ?? error
    }

    private func failure(
        _ ending: GuardedCommand.Ending,
        of command: GuardedCommand,
        cause: (any Error)? = nil
    ) -> MigrationError? {
        let message: String
        switch ending {
        case .ended(.exited(0)):
            // It succeeded before it had read the whole archive.
            guard let error = cause as? ArchiveError, error.cause?.isBrokenPipe ?? false else {
                return nil
            }
            message = "the command ended before it had taken the whole archive"
        case .cancelled: return nil
        case .ended(.exited(let code)): message = "the command ended with \(code)"
        case .ended(.signaled(let number)): message = "signal \(number) ended the command"
        case .guardKilled:
            message =
                "the process that guards the command was killed, so the command was killed too"
        case .outlasting: message = "the command was killed, and some of its processes still run"
        }
        return MigrationError(
            .commandFailed,
            message,
            printedLines: command.printedLines.map(PrintableText.escaping)
        )
    }
}

extension StreamCommand: Hashable {
    package static func == (one: StreamCommand, other: StreamCommand) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
