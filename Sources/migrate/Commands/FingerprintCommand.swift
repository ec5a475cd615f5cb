internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate fingerprint`: computes the fingerprint that an archive of a container would have.
struct FingerprintCommand: LockingCommand {
    private(set) var container: BytePath = ""
    private(set) var waitLimit = Duration.zero
    private(set) var answersInJSON = false
    private(set) var progress = ProgressMode.auto
    private var bundleIdentifier: String?
    private var appExtension = ExtensionFlags()
    private var options = ExportOptions()
    private var activity: BytePath?
    private var exclusions = ExclusionFlags()
    private var metadata = MetadataFlags()
    private var isVerbose = false

    static let name = "fingerprint"
    static let abstract = "Compute the fingerprint that an archive of a container would have."

    static var flags: [Flag<Self>] {
        Flag.container(
            help: "The container: a directory or an .xcappdata bundle.",
            to: \.container
        )
        Flag.bundleIdentifier(
            help: "The app's bundle identifier, if the container does not name it.",
            to: \.bundleIdentifier
        )
        Flag.sourcePlatform(to: \.options.platform)
        Flag.destinationPlatform(to: \.options.destinationPlatform)
            .needing(ExtensionFlags.executable)
        ofWholeContainers.map { $0.excluding(ExtensionFlags.executable) }
        MetadataFlags.included(at: \.metadata)
        ExtensionFlags.executable
            .help(
                "The app's own extension, which chooses the data; without it, everything counts."
            )
            .included(at: \.appExtension)
        DestinationOptions.flag(to: \.options.destinationOptions)
            .needing(ExtensionFlags.executable)
        ExtensionFlags.terms.map { $0.included(at: \.appExtension) }
        Flag.activity(to: \.activity)
        Flag.wait(to: \.waitLimit)
        Flag.threads(to: \.options.threadCount)
        Flag.json(sets: \.answersInJSON)
        Flag.verbose(sets: \.isVerbose)
        Flag.progress(to: \.progress)
    }

    /// What an app's extension decides itself.
    @FlagList<Self> private static var ofWholeContainers: [Flag<Self>] {
        Flag.resourcesVersion(to: \.options.resourcesVersion)
        Flag.includeCaches(sets: \.options.includesCaches)
        ExclusionFlags.included(at: \.exclusions)
    }

    mutating func check(_ given: GivenFlags) throws(UsageError) {
        options.extraMetadata = metadata.extraMetadata
        try appExtension.check()
    }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let source = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        var options = options
        options.exclusions = try exclusions.patterns()
        options.activity = try activity.map { try ResumeActivity(list: InputFile.read($0)) }
        let report = try await ProgressDisplay.showing(progress, on: console) {
            [options] progress in
            try await host(on: console).fingerprint(
                of: source,
                using: try appExtension.hosted(on: console, for: .export, isVerbose: isVerbose),
                options: options,
                progress: progress
            )
        }
        try console.output.write(FingerprintAnswer(report), inJSON: answersInJSON)
        try console.logFindings(of: report.appExtension)
        return .success
    }
}

// MARK: - Answer

/// The answer of `migrate fingerprint`.
struct FingerprintAnswer: Answer {
    let fingerprint: String
    let omissions: OmissionList
    let totals: ArchiveTotals

    init(_ report: ExportReport) {
        fingerprint = report.fingerprint.description
        omissions = report.omissions
        totals = report.totals
    }

    var schema: String { "migrate/fingerprint/1" }

    var text: String { "\(fingerprint)\n" }
}
