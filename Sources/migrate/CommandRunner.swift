import MigrationArchive
import MigrationCore
import MigrationSystem

/// Takes a command line from its words to its exit code.
struct CommandRunner: Sendable {
    let context: CommandContext

    private var console: Console { context.console }

    /// Runs the command that `arguments` ask for; whatever goes wrong is told on standard error.
    func run(_ arguments: [[UInt8]]) async -> ExitCode {
        do throws(UsageError) {
            switch try Invocation(arguments) {
            case .help(let command): return print(HelpPage(of: command).text)
            case .version: return print("migrate \(Migrate.version)\n")
            case .command(let command): return await run(command)
            }
        } catch {
            return report(error)
        }
    }

    private func run(_ command: any Command) async -> ExitCode {
        do {
            let code = try await command.run(in: context)
            try console.output.flush()
            return code
        } catch {
            // A library may wrap what its caller's closure threw: the stream knows best.
            return report(console.output.failure ?? error, from: command)
        }
    }

    private func print(_ text: String) -> ExitCode {
        do throws(OutputError) {
            try console.output.write(text)
            try console.output.flush()
            return .success
        } catch {
            return report(error, from: nil)
        }
    }
}

// MARK: - Errors

extension CommandRunner {
    private func report(_ error: any Error, from command: (any Command)?) -> ExitCode {
        if let error = error as? UsageError { return report(error.adding(command)) }
        if let number = context.signals?.received, isInterruption(error) || isEnd(error) {
            console.log("migrate: interrupted")
            return .signal(number)
        }
        if isBrokenPipe(error) { return OutputError.brokenPipe.exitCode }
        console.log("migrate: error: \(line(for: error, from: command))")
        return ExitCode(for: error)
    }

    private func report(_ error: UsageError) -> ExitCode {
        console.log("migrate: error: \(error.message)")
        console.log("Usage: \(error.command?.synopsis ?? HelpPage.topSynopsis)")
        let page = error.command.map { "migrate \($0.name) --help" } ?? "migrate --help"
        console.log("See '\(page)' for more.")
        return .usage
    }

    /// The operation and what went wrong, in one line that names what the command worked on once.
    private func line(for error: any Error, from command: (any Command)?) -> String {
        let description = text(of: error).replacing("\n", with: " ")
        guard let command else { return description }
        let name = type(of: command).description.name
        let subject = command.subject(of: error)
        if (error as? MigrationError)?.isAbout(subject) ?? false {
            return "\(name): \(description)"
        }
        return "\(name) \(subject): \(description)"
    }

    private func text(of error: any Error) -> String {
        switch error {
        case let error as MigrationError: error.description
        case let error as ArchiveError: error.description
        case let error as SystemError: error.description
        case let error as OutputError: error.description
        case let error as CommandFailure: error.description
        case is CancellationError: "the operation was cancelled"
        default: PrintableText.escaping("\(error)")
        }
    }

    private func isInterruption(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case let error as OutputError: error == .interrupted
        case let error as MigrationError: error.cause.map(isInterruption) ?? false
        default: false
        }
    }

    /// Whether the other end of a pipe has gone, as it does when one key interrupts both ends.
    private func isEnd(_ error: any Error) -> Bool {
        if let error = error as? ArchiveError, [.truncated, .notAnArchive].contains(error.code) {
            return true
        }
        return isBrokenPipe(error)
    }

    private func isBrokenPipe(_ error: any Error) -> Bool {
        switch error {
        case let error as OutputError: error == .brokenPipe
        case let error as SystemError: error.isBrokenPipe
        case let error as ArchiveError: error.cause?.isBrokenPipe ?? false
        case let error as MigrationError: error.cause.map(isBrokenPipe) ?? false
        default: false
        }
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
