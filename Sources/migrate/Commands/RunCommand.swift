internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate run`: runs an app and keeps migrations out of its container meanwhile.
struct RunCommand: Command {
    private var container: BytePath = ""
    private(set) var commandLine: [[UInt8]] = []
    var common = CommonOptions()

    static let name = "run"
    static let abstract = "Run an app while no migration can touch its container."

    static var arguments: [Argument<Self>] {
        [
            Argument("command", count: .commandLine, as: .bytes, appendingTo: \.commandLine)
                .help("The app and its arguments; it finds the container in MIGRATION_CONTAINER.")
        ]
    }

    static var flags: [Flag<Self>] {
        Flag.container(help: "The app's container.", to: \.container)
        Flag.wait
    }

    static let examples: Examples = [
        "Run an app on its container.": "migrate run --container notes -- ./notes",
        "Wait up to a minute for a migration to end.":
            "migrate run -c notes --wait 60 -- ./notes --sync",
        "Copy a container while neither its app nor a migration changes it.":
            "migrate run -c notes -- cp -a notes copy",
    ]

    func check() throws(UsageError) {
        guard commandLine.first != [] else { throw UsageError("the command to run is empty") }
    }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        do {
            // The app reports a record that can't be read.
            if let record = try? container.importRecord() {
                return try run(in: container, watching: record, context: context)
            }
            context.signals?.restoreInherited()
            try common.host(on: context.console).execute(commandLine, in: container)
        } catch let error as SystemError {
            throw ProgramStartError(commandLine: commandLine, cause: error)
        }
    }

    /// Runs the app, and warns if it doesn't clear `record`, which existed before.
    private func run(
        in container: MigrationDataContainer,
        watching record: ImportRecord,
        context: CommandContext
    ) throws -> ExitCode {
        let signals =
            context.signals?.inheritedSignals
            ?? ForegroundProcess.Signals()
        let app = try common.host(on: context.console).start(
            commandLine,
            in: container,
            signals: signals
        )
        context.signals?.forward { number in
            // The terminal has sent this signal to the app too.
            guard number != SignalWatch.interrupt || !ForegroundProcess.isInForeground else {
                return
            }
            app.send(number)
        }
        let outcome = try app.wait()
        if let warning = Self.warning(of: record, in: container) { context.console.log(warning) }
        switch outcome {
        case .exited(let code): return ExitCode(rawValue: code)
        case .signaled(let number):
            ForegroundProcess.end(by: number)
            return .signal(number)
        }
    }

    private static func warning(
        of record: ImportRecord,
        in container: MigrationDataContainer
    ) -> String? {
        // If the app damaged the record, it did not forget to clear it.
        guard let left = try? container.importRecord(),
            left.withoutActivity == record.withoutActivity
        else { return nil }
        let date = Timestamp(record.date).localSeconds
        // A note of the date that can't be read counts as missing.
        guard let read = try? container.importRecordReadDate() else {
            return "migrate: note: the import status of \(date) is still set; "
                + "the app did not ask for it (MigrationStatus.importStatus)"
        }
        return "migrate: warning: the import status of \(date) is still set, though the app asked "
            + "for it on \(Timestamp(read).localSeconds); it stays until the app calls "
            + "MigrationStatus.clearImportStatus()"
    }
}
