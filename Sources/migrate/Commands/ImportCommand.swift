internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate import`: imports one archive into one container, whole or not at all.
struct ImportCommand: LockingCommand {
    private(set) var archive = ArchiveName()
    private(set) var keys = DecryptionFlags()
    private(set) var container: BytePath = ""
    private(set) var bundleIdentifier: String?
    private(set) var appExtension = ExtensionFlags()
    private(set) var options = ImportOptions()
    private(set) var waitLimit = Duration.zero
    private(set) var answersInJSON = false
    private var isVerbose = false
    private(set) var progress = ProgressMode.auto
    private var importer: AppIdentity?
    private var signature = SignatureFlags()

    static let name = "import"
    static let abstract = "Import an archive into a container, whole or not at all."

    static var arguments: [Argument<Self>] { [.archive(to: \.archive)] }

    static var flags: [Flag<Self>] {
        Flag.container(
            help: "The container, which must hold no data yet; it is created if it is missing.",
            to: \.container
        )
        Flag("replace", sets: \.options.replacesExisting)
            .help("Replace a container that holds data.")
        Flag("allow-incomplete", sets: \.options.allowsIncomplete)
            .help(
                "Let another program's tar file replace data even if it has no end mark or nothing "
                    + "in it can be restored."
            )
        Flag.bundleIdentifier(
            help: "The bundle identifier of the container's app.",
            to: \.bundleIdentifier
        )
        Flag.appIdentity(to: \.importer)
        Flag.externalLinks(to: \.options.externalLinks)
        ExtensionFlags.executable
            .help(
                "The app's own extension, which puts the data where the app expects it; without "
                    + "it, everything is restored to its path."
            )
            .included(at: \.appExtension)
        SourceFlags.flags(to: \.options.source).map { $0.needing(ExtensionFlags.executable) }
        ExtensionFlags.terms.map { $0.included(at: \.appExtension) }
        Flag.expect(to: \.options.expectedFingerprint)
        SignatureFlags.requirement.included(at: \.signature)
        SignatureFlags.included(at: \.signature)
        DecryptionFlags.included(at: \.keys)
        Flag.wait(to: \.waitLimit)
        Flag.threads(to: \.options.threadCount)
        Flag.json(sets: \.answersInJSON)
        Flag.verbose(sets: \.isVerbose)
        Flag.progress(to: \.progress)
    }

    mutating func check(_ given: GivenFlags) throws(UsageError) {
        try appExtension.check()
        options.importer = importer?.description
        options.requiredSignature = try signature.requirement(for: archive)
    }

    var subject: String { archive.sourceText }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(container) : subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try archive.source(on: console, keys: keys)
        let destination = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        let report = try await report(of: source, into: destination, on: console)
        console.logMissingProof(of: archive.sourceText, in: report)
        console.logLeftovers(of: report)
        let answer = ImportAnswer(archive, verb: "imported", into: container, report: report)
        try console.output.write(answer, inJSON: answersInJSON)
        try console.logFindings(of: report.appExtension)
        return .success
    }

    private func report(
        of source: ArchiveSource,
        into destination: MigrationDataContainer,
        on console: Console
    ) async throws -> ImportReport {
        do {
            return try await ProgressDisplay.showing(progress, on: console) { progress in
                try await host(on: console).importArchive(
                    source,
                    into: destination,
                    using: try appExtension.hosted(on: console, for: .import, isVerbose: isVerbose),
                    options: options,
                    progress: progress
                )
            }
        } catch let error as MigrationError where error.code == .invalidOption {
            // Without a path, the error is about the source, which is missing rather than wrong.
            guard error.path == nil else { throw error }
            throw UsageError("\(error.message); \(SourceFlags.hint)")
        }
    }
}

// MARK: - Answer

/// The answer of `migrate import` and `migrate extract`.
struct ImportAnswer: Answer {
    var appExtension: ExtensionReport?
    let archive: String
    let archiveBase64: String?
    let destination: String
    let destinationBase64: String?
    let fingerprint: String?
    let hasTrailer: Bool
    let header: ArchiveHeader?
    let lacksEndMark: Bool
    let leftovers: [String]
    let omissions: OmissionList
    let replacedData: Bool
    let totals: ArchiveTotals

    /// The participle for the text: `imported` or `extracted`.
    let verb: String

    private enum CodingKeys: String, CodingKey {
        case appExtension, archive, archiveBase64, destination, destinationBase64, fingerprint
        case hasTrailer, header, lacksEndMark, leftovers, omissions, replacedData, totals
    }

    var text: String {
        let proof = fingerprint.map { "fingerprint \($0)\n" } ?? ""
        let replacement = replacedData ? "replaced the data that was there\n" : ""
        return "\(archive): \(verb) into \(destination): \(TotalsText(totals))\n" + proof
            + replacement + OmissionLines(title: "not restored", omissions: omissions).text
    }
}

extension ImportAnswer {
    init(_ archive: ArchiveName, verb: String, into path: BytePath, report: ImportReport) {
        self.init(
            appExtension: report.appExtension,
            archive: archive.sourceText,
            archiveBase64: JSONText.base64(of: archive.path.bytes),
            destination: PrintableText.escaping(path),
            destinationBase64: JSONText.base64(of: path.bytes),
            fingerprint: report.fingerprint?.description,
            hasTrailer: report.hasTrailer,
            header: report.header,
            lacksEndMark: report.lacksEndMark,
            leftovers: report.leftovers.map(\.description),
            omissions: report.omissions,
            replacedData: report.replacedData,
            totals: report.totals,
            verb: verb
        )
    }
}
