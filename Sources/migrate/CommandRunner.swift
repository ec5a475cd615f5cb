internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// Runs a command line and returns its exit code.
struct CommandRunner: Sendable {
    let context: CommandContext

    /// Whether an error is a JSON document.
    private let answersInJSON: Bool

    private let arguments: [[UInt8]]

    private var console: Console { context.console }

    /// Makes a runner of the command that `arguments` ask for.
    init(_ arguments: [[UInt8]], in context: CommandContext) {
        self.context = context
        self.arguments = arguments
        let flags = ["--json", "--json-lines"].map { [UInt8]($0.utf8) }
        // Even words that can't be understood determine the form of the answer.
        answersInJSON = arguments.prefix { $0 != [UInt8]("--".utf8) }.contains(
            where: flags.contains
        )
    }

    /// Runs the command; errors go to standard error.
    func run() async -> ExitCode {
        do throws(UsageError) {
            switch try Invocation(arguments) {
            case .help(let command): return print(HelpPage(of: command).text)
            case .programHelp: return print(HelpPage(of: CommandCatalog.tree).text)
            case .version: return print("migrate \(MigrationHost.version)\n")
            case .command(let command): return await run(command)
            }
        } catch {
            return report(error)
        }
    }

    private func run(_ command: any Command) async -> ExitCode {
        guard let recorded = command as? any RecordedCommand, let path = command.common.resultFile
        else {
            return await carryOut(command)
        }
        do {
            // A `--result` file that can't be written is reported before the work begins.
            let file = try ResultFile(at: path, named: "--result")
            let code = await carryOut(command)
            try file.append(
                RunResult(
                    operation: type(of: recorded).name,
                    container: recorded.container,
                    archive: recorded.archive.exact.bytes,
                    outcome: context.outcome,
                    code: code.rawValue
                )
            )
            return code
        } catch {
            return report(error, from: command)
        }
    }

    private func carryOut(_ command: any Command) async -> ExitCode {
        if command.onlyAnswers, let error = closedOutput { return report(error, from: command) }
        do {
            let code = try await command.run(in: context)
            try console.output.flush()
            return code
        } catch {
            // A library may wrap an error that its caller's closure threw; the stream has the original.
            let cause = console.output.failure ?? error
            // The part of the answer before the failure is worth printing too.
            try? console.output.flush()
            return report(cause, from: command)
        }
    }

    /// The error of an answer that couldn't be written.
    private var closedOutput: OutputError? {
        console.closedStreams.contains(.output) ? .closed : nil
    }

    private func print(_ text: String) -> ExitCode {
        if let error = closedOutput { return report(error, from: nil) }
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
        if let error = error as? UsageError {
            return report(error.adding(command.map { type(of: $0).description }))
        }
        if let number = context.signals?.received, isInterruption(error) || isEnd(error) {
            // An extension that ignored the cancellation gets a separate line.
            if isIgnoredCancellation(error) { log(error, from: command) }
            let code = ExitCode.signal(number)
            log(ErrorAnswer(code: code, name: "interrupted", message: "interrupted"), as: "")
            return code
        }
        if isBrokenPipe(error) { return OutputError.brokenPipe.exitCode }
        return log(error, from: command)
    }

    @discardableResult
    private func log(_ error: any Error, from command: (any Command)?) -> ExitCode {
        let code = command?.exitCode(for: error) ?? ExitCode(for: error)
        log(ErrorAnswer(error, of: command?.operation(endedBy: error), code: code), as: "error: ")
        return code
    }

    private func report(_ error: UsageError) -> ExitCode {
        log(ErrorAnswer(code: .usage, name: "usage", message: error.message), as: "error: ")
        guard !answersInJSON else { return .usage }
        console.log("Usage: \(error.command?.synopsis ?? HelpPage.topSynopsis)")
        let page = error.command.map { "migrate \($0.name) --help" } ?? "migrate --help"
        console.log("See '\(page)' for more.")
        return .usage
    }

    private func log(_ answer: ErrorAnswer, as kind: String) {
        context.outcome.note(error: answer.name, answer.message)
        // An error that can't be encoded as JSON is printed as text.
        guard answersInJSON, let line = try? JSONText.lineOfDocument(answer) else {
            return console.log("migrate: \(kind)\(answer.message)")
        }
        console.log(line)
    }

    private func isInterruption(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case let error as OutputError: error == .interrupted
        case let error as MigrationError:
            isIgnoredCancellation(error) || error.cause.map(isInterruption) ?? false
        default: false
        }
    }

    private func isIgnoredCancellation(_ error: any Error) -> Bool {
        (error as? MigrationError)?.code == .cancellationIgnored
    }

    /// Whether the other end of a pipe is closed, as when Ctrl-C interrupts both programs.
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
        case let error as any CodedError: error.underlying.map(isBrokenPipe) ?? false
        default: false
        }
    }
}
