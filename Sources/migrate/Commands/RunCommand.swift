import Glibc
import MigrationArchive
import MigrationCore
import MigrationSystem

/// `migrate run`: an app, with its container safe from migrations while it runs.
struct RunCommand: LockingCommand {
    static let description = CommandDescription(
        name: "run",
        abstract: "Run an app while no migration can touch its container.",
        arguments: [
            ArgumentDescription(
                name: "command",
                help: "The app and its arguments; it finds the container in MIGRATION_CONTAINER.",
                count: .commandLine
            )
        ],
        options: [.container("The app's container."), .wait]
    )

    let container: [UInt8]
    let commandLine: [[UInt8]]
    let waitLimit: Duration

    var subject: String { PrintableText.escaping(container) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        container = try arguments.path("container")
        commandLine = arguments.words
        waitLimit = try arguments.waitLimit
        guard commandLine.first != [] else { throw UsageError("the command to run is empty") }
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        do {
            // What can't be read is for the app to hear.
            if let record = try? container.importRecord() {
                return try run(in: container, watching: record, context)
            }
            context.signals?.restoreInheritance()
            try host(on: context.console).execute(commandLine, in: container)
        } catch let error as SystemError {
            throw CommandFailure(commandLine: commandLine, cause: error)
        }
    }

    /// Runs the app, and warns where it leaves the status that was set when it began.
    private func run(
        in container: MigrationDataContainer,
        watching record: ImportRecord,
        _ context: CommandContext
    ) throws -> ExitCode {
        let signals =
            context.signals?.inheritedSignals
            ?? ForegroundProcess.Signals(mask: sigset_t(), defaults: [])
        let app = try host(on: context.console).start(commandLine, in: container, signals)
        context.signals?.forward { number in
            // The terminal sent this one to the app too.
            guard number != SIGINT || !ForegroundProcess.isInForeground else { return }
            app.send(number)
        }
        let outcome = try app.wait()
        if let warning = Self.warning(of: record, in: container) { context.console.log(warning) }
        switch outcome {
        case .exited(let code): return ExitCode(rawValue: code)
        case .signalled(let number):
            ForegroundProcess.end(by: number)
            return .signal(number)
        }
    }

    private static func warning(
        of record: ImportRecord,
        in container: MigrationDataContainer
    ) -> String? {
        // The app may have left anything; a status that it broke is no forgotten one.
        guard let left = try? container.importRecord(), left == record else { return nil }
        let date = Timestamp(record.date).localSeconds
        guard let read = try? container.importRecordReadDate() else {
            return "migrate: note: the import status of \(date) is still set; "
                + "the app did not ask for it (MigrationStatus.importStatus)"
        }
        return "migrate: warning: the import status of \(date) is still set, though the app asked "
            + "for it on \(Timestamp(read).localSeconds); it stays until the app calls "
            + "MigrationStatus.clearImportStatus()"
    }
}
