internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate verify`: reads an archive as an import would, or only checks its hashes.
struct VerifyCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var signature = SignatureFlags()
    private var scope = VerificationScope.everything
    private var expected: Fingerprint?
    private var externalLinks = ExternalLinkPolicy.refuse
    private var answersInJSON = false
    private var isQuiet = false
    private var progress = ProgressMode.auto

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
        Flag.json(sets: \.answersInJSON)
        Flag.quiet(sets: \.isQuiet)
        Flag.progress(to: \.progress)
    }

    static let examples = [
        Example(
            "Check that an archive is whole and can be imported.",
            "migrate verify notes.tar.zst"
        ),
        Example(
            "Check who signed it, too.",
            "migrate verify notes.tar.zst --allowed-signers team --signer ann@example.com"
        ),
        Example(
            "Check the content of an archive that comes through a pipe.",
            "curl -s https://example.com/notes.tar.zst | migrate verify - --hashes"
        ),
    ]

    func check(_ given: GivenFlags) throws(UsageError) {
        _ = try signature.requirement(for: archive)
    }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(isQuiet)
        let signature = try signature.requirement(for: archive)
        let source = try archive.source(on: console, keys: keys)
        let inspection: ArchiveInspection
        do {
            inspection = try await ProgressDisplay.showing(
                isQuiet ? .none : progress,
                on: console
            ) { progress in
                try await source.verify(scope, externalLinks: externalLinks, progress: progress)
            }
        } catch let error as ArchiveError where ExitCode(error.code) == .badArchive {
            var answer = UnsoundAnswer(archive: archive, checked: scope)
            // A path that can't be opened again was a stream, or fails here with the same error.
            if !archive.isStream { answer.lost = try? await source.losses() }
            try console.output.write(answer, inJSON: answersInJSON)
            throw error
        }
        try expected?.check(inspection.fingerprint)
        console.logMissingProof(of: archive.sourceText, in: inspection)
        let answer = VerificationAnswer(
            inspection: InspectionAnswer(archive, inspection: inspection),
            checked: scope,
            signature: try signature?.check(
                ArchiveStatement(inspection),
                on: MigrationOperation(cancellation: SignalWatch.interruption)
            )
        )
        if !isQuiet { try console.output.write(answer, inJSON: answersInJSON) }
        return .success
    }
}

// MARK: - Answers

/// The answer of `migrate verify`: the checks, and the properties of an archive that was read whole.
struct VerificationAnswer: Answer {
    let inspection: InspectionAnswer
    let checked: VerificationScope

    /// The result of checking the required signature.
    var signature: String?

    var schema: String { "migrate/verify/1" }

    private enum CodingKeys: String, CodingKey {
        case checked, signature, sound
    }

    var text: String {
        let name = inspection.archive.sourceText
        guard let fingerprint = inspection.fingerprint else {
            return "\(name): readable to its end, without a fingerprint\n"
        }
        let frames = inspection.frameCount.map { GroupedCount($0).of("frame", "frames") + ", " }
        let finding =
            checked == .everything
            ? "sound, read as an import would" : "hashes match, entries not read"
        let proof = "\(frames ?? "")fingerprint \(fingerprint)"
        return (["\(name): \(finding), \(proof)"] + [signature].compactMap(\.self))
            .map { "\($0)\n" }.joined()
    }

    func encode(to encoder: any Encoder) throws {
        try inspection.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(checked, forKey: .checked)
        try container.encodeIfPresent(signature, forKey: .signature)
        // Nothing proves another program's archive complete.
        let sound: Bool? = inspection.fingerprint == nil ? nil : true
        try container.encode(sound, forKey: .sound)
    }
}

/// The answer of `migrate verify` about an archive that is not sound; the error says why.
private struct UnsoundAnswer: Answer {
    let archive: ArchiveName
    let checked: VerificationScope

    /// The entries that can't be read.
    var lost: OmissionList?

    var schema: String { "migrate/verify/1" }

    var text: String { lost.map { OmissionLines(title: "lost", omissions: $0).text } ?? "" }

    private enum CodingKeys: String, CodingKey {
        case archive, archiveBase64, checked, lost, sound
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
        try container.encode(checked, forKey: .checked)
        try container.encodeIfPresent(lost, forKey: .lost)
        try container.encode(false, forKey: .sound)
    }
}
