internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// A command that has some of the flags that several commands share.
protocol CommandOfOptions: ParsableCommand {
    /// How the command runs and answers.
    var common: CommonOptions { get set }
}

extension CommandOfOptions {
    var given: GivenFlags {
        get { common.given }
        set { common.given = newValue }
    }
}

/// How a command runs and answers, according to flags that several commands share.
struct CommonOptions: Sendable {
    /// The flags that were given.
    var given = GivenFlags()

    var answersInJSON = false

    /// Whether only errors and warnings are printed.
    var isQuiet = false

    var isVerbose = false
    var progress = ProgressMode.auto

    /// Whether an existing output may be replaced.
    var replacesExisting = false

    /// The file that gets a line about the run; `nil` for none.
    var resultFile: BytePath?

    /// The longest time that the command waits for another process to release the container.
    var waitLimit = Duration.zero

    /// Performs `operation` and displays its progress.
    func showingProgress<Result>(
        on console: Console,
        _ operation: (Progress?) async throws -> Result
    ) async throws -> Result {
        try await ProgressDisplay.showing(isQuiet ? .none : progress, on: console.errors, operation)
    }

    /// Writes an answer, unless the command is quiet.
    func answer(with answer: some Answer, on console: Console) throws {
        if !isQuiet { try console.output.write(answer, inJSON: answersInJSON) }
    }

    /// Writes the answer about finished work, unless the command is quiet.
    ///
    /// If the answer can't be written, the command warns, and its exit code is that of the work.
    func conclude(
        with answer: some Answer,
        on console: Console,
        _ stream: TextOutput? = nil
    ) throws {
        guard !isQuiet else { return }
        try console.conclude(on: stream ?? console.output) {
            try $0.write(answer, inJSON: answersInJSON)
        }
    }

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
}
