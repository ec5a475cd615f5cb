internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate verify`: reads an archive as an import would, or only checks its hashes.
struct VerifyCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var signature = SignatureFlags()
    private var scope = VerificationScope.everything
    private var expected: Fingerprint?
    private var externalLinks = ExternalLinkPolicy.refuse
    var common = CommonOptions()

    static let name = "verify"
    static let abstract = "Read everything in an archive as an import would, and restore nothing."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    private static let hashes = Flag<Self>("hashes", sets: \.scope, to: .hashes)
        .help("Only check the content against its hashes, and read no entries.")
        .about(.archive)

    static var flags: [Flag<Self>] {
        hashes
        Flag.externalLinks(to: \.externalLinks).excluding(hashes)
        Flag.expect(to: \.expected)
        SignatureFlags.included(at: \.signature)
        DecryptionFlags.included(at: \.keys)
        Flag.json
        Flag.quiet
        Flag.progress
    }

    static let examples: Examples = [
        "Check that an archive is whole and can be imported.": "migrate verify notes.tar.zst",
        "Check who signed it, too.":
            "migrate verify notes.tar.zst --allowed-signers team --signer ann@example.com",
        "Check the content of an archive that comes through a pipe.":
            "curl -s https://example.com/notes.tar.zst | migrate verify - --hashes",
    ]

    func check() throws(UsageError) {
        _ = try signature.requirement(for: archive)
    }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(common.isQuiet)
        let signature = try signature.requirement(for: archive)
        let source = try archive.source(on: console, keys: keys)
        let inspection: ArchiveInspection
        do {
            inspection = try await common.showingProgress(on: console) { progress in
                try await source.verify(scope, externalLinks: externalLinks, progress: progress)
            }
        } catch let error as ArchiveError where ExitCode(error.code) == .badArchive {
            // A path that can't be opened again was a stream, or fails here with the same error.
            let lost = archive.isStream ? nil : try? await source.losses()
            let answer = UnsoundAnswer(archive, checked: scope, lost: lost, .ofFlags)
            // The losses are part of the error, and are printed even with --quiet.
            try console.output.write(answer, inJSON: common.answersInJSON)
            throw error
        }
        try expected?.check(inspection.fingerprint)
        console.logMissingProof(of: archive.sourceText, in: inspection)
        let answer = VerificationAnswer(
            InspectionAnswer(archive, inspection: inspection),
            checked: scope,
            signature: try signature?.check(
                ArchiveStatement(inspection),
                on: MigrationOperation(cancellation: SignalWatch.interruption)
            )
        )
        try common.answer(with: answer, on: console)
        return .success
    }
}
