import MigrationCore

/// `migrate verify`: reads an archive as an import would, or checks its hashes alone.
struct VerifyCommand: Command {
    static let description = CommandDescription(
        name: "verify",
        abstract: "Read everything in an archive as an import would, and restore nothing.",
        arguments: [.archive],
        options: [
            OptionDescription(
                name: "hashes",
                help: "Only check every frame against its hash, which is quick."
            ),
            .externalLinks.without("hashes"),
        ] + SignatureOptions.descriptions + DecryptionOptions.descriptions + [
            .json,
            .progress,
        ]
    )

    let archive: ArchiveName
    let signature: RequiredSignature?
    let scope: VerificationScope
    let externalLinks: ExternalLinkPolicy
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { archive.sourceText }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        archive = try arguments.archive
        signature = try SignatureOptions.read(archive, arguments)
        scope = arguments.has("hashes") ? .hashes : .everything
        externalLinks = try arguments.externalLinks
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let source = try archive.source(console: context.console)
        let inspection = try await ProgressDisplay.showing(
            progress,
            on: context.console
        ) { progress in
            try await source.verify(scope, externalLinks: externalLinks, progress: progress)
        }
        context.console.logMissingProof(of: archive, inspection)
        let answer = VerificationAnswer(
            inspection: InspectionAnswer(archive, inspection),
            checked: scope,
            signature: try signature?.check(ArchiveStatement(inspection))
        )
        try context.console.output.write(answer, inJSON: answersInJSON)
        return .success
    }
}
