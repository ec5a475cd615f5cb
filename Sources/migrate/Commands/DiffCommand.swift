import MigrationCore

/// `migrate diff`: what differs between an archive and a container.
struct DiffCommand: LockingCommand {
    static let description = CommandDescription(
        name: "diff",
        abstract: "Show what differs between an archive and a container.",
        arguments: [.archive],
        options: [
            .container("The container to compare with."),
            .includeCaches,
        ] + DecryptionOptions.descriptions + [
            .wait,
            .json,
            .progress,
        ]
    )

    let archive: ArchiveName
    let container: [UInt8]
    let includesCaches: Bool
    let waitLimit: Duration
    let answersInJSON: Bool
    let progress: ProgressMode

    var isForItsAnswer: Bool { true }

    var subject: String { archive.sourceText }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        container = try arguments.path("container")
        includesCaches = arguments.has("include-caches")
        waitLimit = try arguments.waitLimit
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let other = try MigrationDataContainer(atPath: container)
        let rows = RowOutput(to: context.console.output, inJSON: answersInJSON)
        try rows.begin()
        let (differences, inspection) = try await ProgressDisplay.showing(
            progress,
            on: context.console
        ) { progress in
            try await source.inspectComparing(
                with: other,
                includesCaches: includesCaches,
                host: host(on: context.console),
                progress: progress
            ) { difference in
                try rows.write(DifferenceRow(difference))
            }
        }
        try rows.end()
        context.console.logMissingProof(of: archive, inspection)
        return differences == 0 ? .success : .differences
    }
}
