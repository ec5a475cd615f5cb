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
        context.signals?.restoreInheritance()
        do {
            try host(on: context.console).execute(commandLine, in: container)
        } catch let error as SystemError {
            throw CommandFailure(commandLine: commandLine, cause: error)
        }
    }
}
