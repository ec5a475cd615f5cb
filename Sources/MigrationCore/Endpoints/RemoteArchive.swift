internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// An archive that `migrate receive` writes on another host, which ssh reaches.
///
/// It belongs to one export. The receiver first says how much of the archive it has
/// (``ArchiveBeginning``). Pieces that still match aren't sent again. At the end the receiver
/// answers with the fingerprint of its archive.
package final class RemoteArchive: Sendable {
    /// The first bytes that a receiver writes; the number is the version of the conversation.
    static let greeting = [UInt8]("migrate receive 1\n".utf8)

    /// The version of the conversation, which the sender asks for.
    package static let protocolVersion = 1

    /// The largest answer of a receiver.
    private static let answerLimit = 1 << 24

    /// How long the receiver may take to end by itself after a failure, in seconds.
    private static let endingLimit = 10.0

    private struct State {
        var peer: PipedProcess?
        var offeredBytes: UInt64 = 0
        var answer: [UInt8] = []
    }

    /// The host, and the archive's path there.
    package let location: SSHLocation

    private let command: [UInt8]
    private let arguments: [[UInt8]]
    private let options: [[UInt8]]
    private let state = Monitor(State())

    /// Names an archive.
    ///
    /// - Parameters:
    ///   - location: The host, and the archive's path there.
    ///   - command: The command that the host's shell runs as `migrate`.
    ///   - arguments: The flags of `migrate receive`, with ``protocolVersion`` among them.
    ///   - options: Options of ssh, as its `-o` takes them.
    package init(
        _ location: SSHLocation,
        command: [UInt8],
        arguments: [[UInt8]],
        options: [[UInt8]]
    ) {
        self.location = location
        self.options = options
        self.command = command
        self.arguments = arguments
    }

    /// The bytes of the archive's pieces that the receiver had.
    package var offeredBytes: UInt64 { state.withLock { $0.offeredBytes } }

    /// The answer of `migrate receive`, a JSON document, after the export.
    package var answer: [UInt8] { state.withLock { $0.answer } }

    /// The last lines that ssh and the receiver printed.
    package var printedLines: [String] { state.withLock { $0.peer }?.printedLines ?? [] }

    private var commandLine: [UInt8] {
        let words =
            [[UInt8]("receive".utf8)] + arguments + [[UInt8]("--".utf8), location.path.bytes]
        return command + words.flatMap { [UInt8(ascii: " ")] + SSHLocation.quoting($0) }
    }
}

// MARK: - The conversation

extension RemoteArchive: ArchiveConsumer {
    func start(
        sizeEstimate: UInt64,
        encryption: ArchiveEncryption?,
        on operation: MigrationOperation
    ) throws -> (ArchiveOutput, ArchiveBeginning?) {
        let peer: PipedProcess
        do throws(SystemError) {
            peer = try PipedProcess.start(location.words(running: commandLine, options: options))
        } catch {
            throw MigrationError(.commandFailed, "ssh can't be started", cause: error)
        }
        state.withLock { $0.peer = peer }
        do {
            var reader = try PeerReader(of: peer.output, operation)
            guard try reader.read(Self.greeting.count) == Self.greeting else {
                peer.end()
                throw failure("the other host did not answer as a receiver", remedy: .runReceiver)
            }
            let beginning = try ArchiveBeginning { try reader.read($0) }
            state.withLock {
                $0.offeredBytes = beginning.provedBytes - UInt64(beginning.headerSize)
            }
            let stream = try peer.openInput()
            return (try ArchiveOutput(writing: stream, isRemote: true, on: operation), beginning)
        } catch is ArchiveError {
            peer.end()
            throw failure("what the other host has of the archive can't be understood")
        } catch {
            throw end(after: error)
        }
    }

    func complete(closing output: ArchiveOutput) throws {
        guard let peer = state.withLock({ $0.peer }) else { return }
        output.close()
        peer.closeInput()
        let ending: ProcessEnding?
        do {
            let answer: [UInt8]
            (answer, ending) = try peer.answer(
                limit: Self.answerLimit,
                within: nil,
                cancellation: output.operation.cancellation
            )
            state.withLock { $0.answer = answer }
        } catch is PipedProcess.OutputTooLong {
            throw failure("the receiver's answer is too long")
        } catch {
            throw end(after: error)
        }
        if let failure = failure(ending) { throw failure }
    }

    func end(after error: any Error) -> any Error {
        guard let peer = state.withLock({ $0.peer }) else { return error }
        peer.closeInput()
        // If the receiver failed, its reason is about to arrive.
        let isBroken = (error as? ArchiveError)?.cause?.isBrokenPipe ?? false
        let isOfPeer = isBroken || error is PeerReader.CutShort
        guard isOfPeer, let ending = peer.ending(within: Self.endingLimit) else {
            peer.end()
            return isOfPeer
                ? failure("the other host ended the conversation, and ssh goes on") : error
        }
        return failure(ending) ?? failure("the other host ended the conversation")
    }

    private func failure(_ ending: ProcessEnding?) -> MigrationError? {
        switch ending {
        case .exited(0): nil
        case .exited(255): failure("ssh failed")
        case .exited(127):
            failure("the other host has no such command", cause: ReceiverFailure(exitCode: 127))
        case .exited(let code):
            failure("the receiver failed there", cause: ReceiverFailure(exitCode: code))
        case .signaled(let number): failure("signal \(number) ended ssh")
        case nil: failure("ssh was killed, and still runs")
        }
    }

    private func failure(
        _ message: String,
        cause: ReceiverFailure? = nil,
        remedy: Remedy? = nil
    ) -> MigrationError {
        MigrationError(
            .commandFailed,
            message,
            cause: cause,
            printedLines: printedLines.map(PrintableText.escaping),
            remedy: remedy
        )
    }
}

/// The failure of `migrate receive` on another host.
package struct ReceiverFailure: Error, CustomStringConvertible {
    package let exitCode: Int32

    /// Whether the shell there did not find the command (POSIX.1-2017, 2.8.2).
    package var isOfMissingCommand: Bool { exitCode == 127 }

    package var description: String { "exit code \(exitCode)" }
}
