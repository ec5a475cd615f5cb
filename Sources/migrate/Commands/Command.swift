import Foundation
import MigrationCore

/// One subcommand: its description, its values once parsed, and what it does.
protocol Command: Sendable {
    /// What the command is called and takes.
    static var description: CommandDescription { get }

    /// What the command works on, as messages name it.
    var subject: String { get }

    /// What an error of this command is about.
    func subject(of error: any Error) -> String

    /// Whether the command does nothing but answer on standard output.
    var isForItsAnswer: Bool { get }

    /// Makes a command of words that fit its description.
    init(_ arguments: ParsedArguments) throws(UsageError)

    /// Does the work and answers through the context's console.
    func run(in context: CommandContext) async throws -> ExitCode
}

extension Command {
    func subject(of error: any Error) -> String { subject }

    var isForItsAnswer: Bool { false }
}

/// A command that takes the lock of a container.
protocol LockingCommand: Command {
    /// How long it waits for whoever holds the container.
    var waitLimit: Duration { get }
}

extension LockingCommand {
    /// The host that does the command's work.
    func host(on console: Console) -> MigrationHost {
        var host = MigrationHost()
        host.waitLimit = waitLimit
        host.waitHandler = { [waitLimit] reason in
            let limit = waitLimit.formatted(.units(allowed: [.minutes, .seconds], width: .narrow))
            console.log("migrate: \(reason.message); waiting at most \(limit)")
        }
        return host
    }

    /// What an error that says who holds the container adds: how to wait for it.
    var hintOfWait: String? { waitLimit > .zero ? nil : "--wait <s> waits for it" }
}
