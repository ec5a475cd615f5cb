import MigrationCore

/// `migrate verify`: reads an archive whole and checks every hash.
struct VerifyCommand: Command {
    static let description = CommandDescription(
        name: "verify",
        abstract: "Check every frame of an archive against its hash.",
        arguments: [.archive],
        options: [.json, .progress]
    )

    let archive: ArchiveName
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let inspection = try await ProgressDisplay.showing(
            progress,
            on: context.console
        ) { progress in
            try await source.verify(progress: progress)
        }
        context.console.logMissingProof(of: archive, inspection)
        let answer = VerificationAnswer(InspectionAnswer(archive, inspection))
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}
