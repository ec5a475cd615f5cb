internal import AndroidMigration
internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// `migrate import`: imports one archive into one container, whole or not at all.
struct ImportCommand: RecordedCommand {
    private(set) var archive = ArchiveName()
    private(set) var keys = DecryptionFlags()
    private(set) var container: BytePath = ""
    private(set) var bundleIdentifier: String?
    private(set) var appExtension = ExtensionFlags()
    private(set) var options = ImportOptions()
    private var records = RecordFlags()
    private var isDryRun = false
    private var importer: AppIdentity?
    private var signature = SignatureFlags()
    private var metadata = RestoredMetadataFlags()
    var common = CommonOptions()

    static let name = "import"
    static let abstract = "Import an archive into a container, whole or not at all."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive).unless(inCommand)]
    }

    private static let inCommand = Flag<Self>(
        "in-command",
        value: "command",
        as: .command,
        to: \.archive
    )
    .help(
        "Import what a shell command writes, in place of an archive; nothing changes unless the "
            + "command ends with 0."
    )
    .about(.archive)

    private static let replace = Flag<Self>("replace", sets: \.options.replacesExisting)
        .help("Replace a container that holds data.")
        .about(.container)

    private static let skipIfImported = Flag<Self>(
        "skip-if-imported",
        sets: \.options.skipsIfImported
    )
    .help(
        "Do nothing if the container's data already came from this archive; a stream needs '--expect' "
            + "too."
    )
    .about(.container)

    static var flags: [Flag<Self>] {
        Flag.container(
            help: "The container, which must hold no data yet; it is created if it is missing.",
            to: \.container
        )
        replace
        Flag("keep-old", value: "dir", as: .directory, to: \.options.keptPath)
            .help(
                "Keep the data that is replaced in this new directory, as a container; it must be on the "
                    + "container's file system."
            )
            .about(.container)
            .needing(replace)
        skipIfImported
        inCommand
        Flag.expect(to: \.options.expectedFingerprint)
        Flag.externalLinks(to: \.options.externalLinks)
        Flag("allow-incomplete", sets: \.options.allowsIncomplete)
            .help(
                "Let another program's tar file replace data even if it has no end mark or nothing "
                    + "in it can be restored."
            )
            .about(.archive)
        Flag("strict", sets: \.options.isStrict)
            .help(
                "Fail if the container's file system can't hold the time of an entry, before anything is "
                    + "changed."
            )
            .about(.container)
        Flag.bundleIdentifier(to: \.bundleIdentifier)
        Flag.claimedIdentifier(
            help:
                "Treat the archive as this app's, whichever app it names; the container must be this "
                + "app's too, or becomes it.",
            to: \.options.bundleIdentifier
        )
        Flag.notAContainer(sets: \.options.takesAnyDirectory)
        Flag.appIdentity(to: \.importer)
        RestoredMetadataFlags.included(at: \.metadata)
        ExtensionFlags.executable
            .help(
                "The app's own extension, which puts the data where the app expects it; without "
                    + "it, everything is restored to its path."
            )
            .included(at: \.appExtension)
        ExtensionFlags.terms.map { $0.included(at: \.appExtension) }
        ImportSource.included(at: \.options.source).map { $0.needing(ExtensionFlags.executable) }
        SignatureFlags.included(at: \.signature)
        SignatureFlags.requirement.included(at: \.signature)
        DecryptionFlags.included(at: \.keys)
        Flag.dryRun(
            "Check the archive, say what an import would replace and the space that it needs, and "
                + "change nothing.",
            sets: \.isDryRun
        )
        .excluding(ExtensionFlags.executable)
        Flag.quiet
        Flag.verboseNamingFiles
        Flag.json
        Flag.progress
        Flag.wait
        Flag.threads(to: \.options.threadCount)
        Flag.result
        RecordFlags.included(at: \.records)
    }

    static let examples: Examples = [
        "Import an archive where the app has no data yet.":
            "migrate import notes.tar.zst --container new-notes",
        "Say what would be replaced and the space that it needs, and change nothing.":
            "migrate import notes.tar.zst -c notes --replace --dry-run",
        "Let the app's own extension put the data where the app expects it.":
            "migrate import notes.tar.zst -c notes --extension ./NotesMigration",
    ]

    mutating func check() throws(UsageError) {
        try appExtension.check()
        options.requiredSignature = try signature.requirement(for: archive)
        guard !options.skipsIfImported || !archive.isStream || options.expectedFingerprint != nil
        else {
            throw UsageError(
                "option '--skip-if-imported' needs '--expect' with a stream, whose fingerprint is at "
                    + "its end"
            )
        }
        guard !options.skipsIfImported || !archive.isStream || options.requiredSignature == nil
        else {
            throw UsageError(
                "option '--skip-if-imported' can't be given with '--signer' and a stream, whose "
                    + "signature is checked at its end"
            )
        }
        guard !options.skipsIfImported || !isDryRun else {
            throw UsageError("option '--skip-if-imported' can't be given with '--dry-run'")
        }
        options.importer = importer?.description
        metadata.apply(to: &options)
    }

    var subject: String { archive.sourceText }

    var outputSubject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(common.isQuiet)
        let source = try archive.source(on: console, keys: keys)
        let destination = try MigrationDataContainer(
            atPath: container,
            naming: bundleIdentifier
        )
        let record = try records.record()
        let (report, preview) = try await record.watching(warning: console.warn(of:)) {
            try await perform(source, into: destination, record, on: console)
        }
        console.logMissingProof(of: archive.sourceText, in: report)
        console.logLeftovers(of: report)
        let answer = ImportAnswer(
            .import,
            of: archive,
            into: container.bytes,
            report,
            preview: preview,
            .ofFlags
        )
        if isDryRun {
            try common.answer(with: answer, on: console)
        } else {
            context.outcome.note(
                fingerprint: report.fingerprint?.description,
                bytes: report.totals.contentBytes,
                isSkipped: report.isSkipped
            )
            try common.conclude(with: answer, on: console)
        }
        try console.logFindings(of: report.appExtension)
        try record.finish { tree, log in
            ReportPage(about: report, of: archive, into: container, tree: tree, session: log)
        }
        return .success
    }

    /// Imports the archive, or finds out what an import would do.
    private func perform(
        _ source: ArchiveSource,
        into container: MigrationDataContainer,
        _ record: OperationRecord,
        on console: Console
    ) async throws -> (ImportReport, ImportPreview?) {
        var options = options
        let log = console.entryLog(isVerbose: common.isVerbose)
        options.entryHandler = record.entryHandler(besides: log)
        return try await common.showingProgress(on: console) { [options] progress in
            let host = common.host(on: console)
            guard !isDryRun else {
                let preview = try await host.previewImport(
                    of: source,
                    into: container,
                    options: options,
                    progress: progress
                )
                return (preview.report, preview)
            }
            do {
                let report = try await host.import(
                    source,
                    into: container,
                    using: try appExtension.hosted(on: console, for: .import, common, record),
                    options: options,
                    progress: progress
                )
                return (report, nil)
            } catch let error as MigrationError
                where error.code == .invalidOption && error.path == nil
            {
                // Without a path, the error is about the source, which is missing rather than wrong.
                throw UsageError("\(error.message); \(ErrorMessage.Hint.ofSource)")
            }
        }
    }
}
