internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// `migrate import`: imports one archive into one container, whole or not at all.
struct ImportCommand: LockingCommand, RecordedCommand {
    private(set) var archive = ArchiveName()
    private(set) var keys = DecryptionFlags()
    private(set) var container: BytePath = ""
    private(set) var bundleIdentifier: String?
    private(set) var appExtension = ExtensionFlags()
    private(set) var options = ImportOptions()
    private(set) var waitLimit = Duration.zero
    private(set) var resultFile: BytePath?
    private(set) var answersInJSON = false
    private var isQuiet = false
    private var records = RecordFlags()
    private var isVerbose = false
    private var isDryRun = false
    private(set) var progress = ProgressMode.auto
    private var importer: AppIdentity?
    private var signature = SignatureFlags()
    private var metadata = RestoredMetadataFlags()

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
        "Do nothing if the container's data came from this archive already; a stream needs '--expect' "
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
        Flag.bundleIdentifier(
            help: "The app's bundle identifier, if the container does not name it.",
            to: \.bundleIdentifier
        )
        Flag.claimedIdentifier(
            help:
                "Take the archive for this app's, whichever app it names; the container must be this "
                + "app's, too, or becomes it.",
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
        SourceFlags.flags(to: \.options.source).map { $0.needing(ExtensionFlags.executable) }
        SignatureFlags.included(at: \.signature)
        SignatureFlags.requirement.included(at: \.signature)
        DecryptionFlags.included(at: \.keys)
        Flag.dryRun(
            "Check the archive, say what an import would replace and the space that it needs, and "
                + "change nothing.",
            sets: \.isDryRun
        )
        .excluding(ExtensionFlags.executable)
        Flag.quiet(sets: \.isQuiet)
        Flag.verboseNamingFiles(sets: \.isVerbose)
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progress)
        Flag.wait(to: \.waitLimit)
        Flag.threads(to: \.options.threadCount)
        Flag.result(to: \.resultFile)
        RecordFlags.included(at: \.records)
    }

    static let examples = [
        Example(
            "Import an archive where the app has no data yet.",
            "migrate import notes.tar.zst --container new-notes"
        ),
        Example(
            "Say what would be replaced and the space that it needs, and change nothing.",
            "migrate import notes.tar.zst -c notes --replace --dry-run"
        ),
        Example(
            "Let the app's own extension put the data where the app expects it.",
            "migrate import notes.tar.zst -c notes --extension ./NotesMigration"
        ),
    ]

    mutating func check(_ given: GivenFlags) throws(UsageError) {
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

    func subject(of error: any Error) -> String {
        error.isOfOutput ? PrintableText.escaping(container) : subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(isQuiet)
        let source = try archive.source(on: console, keys: keys)
        let destination = try MigrationDataContainer(
            atPath: container,
            naming: bundleIdentifier
        )
        let record = try OperationRecord(records)
        guard !isDryRun else {
            return try await preview(of: source, into: destination, record, on: console)
        }
        let report = try await record.watching(console) {
            try await self.report(of: source, into: destination, record, on: console)
        }
        context.outcome.note(
            fingerprint: report.fingerprint?.description,
            bytes: report.totals.contentBytes,
            isSkipped: report.isSkipped
        )
        console.logMissingProof(of: archive.sourceText, in: report)
        console.logLeftovers(of: report)
        let answer = ImportAnswer(
            action: .import,
            archive: archive,
            destination: container.bytes,
            report: report
        )
        if !isQuiet { try console.conclude(with: answer, inJSON: answersInJSON) }
        try console.logFindings(of: report.appExtension)
        try record.finish { tree, log in page(about: report, tree: tree, log: log) }
        return .success
    }

    private func preview(
        of source: ArchiveSource,
        into destination: MigrationDataContainer,
        _ record: OperationRecord,
        on console: Console
    ) async throws -> ExitCode {
        var options = options
        options.entryHandler = record.entryHandler(besides: console.entryLog(isVerbose: isVerbose))
        let preview = try await ProgressDisplay.showing(
            isQuiet ? .none : progress,
            on: console
        ) { [options] progress in
            try await host(on: console).previewImport(
                of: source,
                into: destination,
                options: options,
                progress: progress
            )
        }
        console.logMissingProof(of: archive.sourceText, in: preview.report)
        var answer = ImportAnswer(
            action: .import,
            archive: archive,
            destination: container.bytes,
            report: preview.report
        )
        answer.preview = preview
        if !isQuiet { try console.output.write(answer, inJSON: answersInJSON) }
        try record.finish { tree, log in page(about: preview.report, tree: tree, log: log) }
        return .success
    }

    private func page(
        about report: ImportReport,
        tree: ReportTree,
        log: SessionLog?
    ) -> ReportPage {
        let answer = InspectionAnswer(
            archive: archive,
            archiveBytes: nil,
            fingerprint: report.fingerprint?.description,
            frameCount: nil,
            header: report.header,
            streamBytes: nil,
            totals: report.totals
        )
        let name = PrintableText.escaping(container)
        var page = ReportPage(
            title: "Import of \(archive.sourceText)",
            facts: answer.rows + [("container", name)]
                + (report.replaced.map { [("replaced", "\(TotalsText($0.totals))")] } ?? [])
                + (report.keptContainer.map { [("kept", $0)] } ?? []),
            tree: tree
        )
        page.omissions = report.omissions
        page.findings = report.appExtension?.findings ?? []
        page.session = log
        return page
    }

    private func report(
        of source: ArchiveSource,
        into destination: MigrationDataContainer,
        _ record: OperationRecord,
        on console: Console
    ) async throws -> ImportReport {
        var options = options
        options.entryHandler = record.entryHandler(besides: console.entryLog(isVerbose: isVerbose))
        do {
            return try await ProgressDisplay.showing(
                isQuiet ? .none : progress,
                on: console
            ) { [options] progress in
                try await host(on: console).import(
                    source,
                    into: destination,
                    using: record.recording(
                        try appExtension.hosted(on: console, for: .import, isVerbose: isVerbose)
                    ),
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
    /// What was done with the archive.
    enum Action: String, Sendable {
        case extract, `import`

        /// The participle for the text.
        var done: String { "\(rawValue)ed" }
    }

    let action: Action
    let archive: ArchiveName
    let destination: [UInt8]
    let report: ImportReport
    /// The effects that the import would have; `nil` if it was made.
    var preview: ImportPreview?

    var schema: String { "migrate/\(action.rawValue)/1" }

    var text: String {
        let place = PrintableText.escaping(destination)
        if report.isSkipped { return "\(archive.sourceText): already imported into \(place)\n" }
        let proof = report.fingerprint.map { "fingerprint \($0)\n" } ?? ""
        if let preview {
            return "\(archive.sourceText): would be \(action.done) into \(place): "
                + "\(TotalsText(report.totals))\n" + proof + replacement(title: "would replace")
                + "needs \(ByteCount(preview.neededBytes)), \(ByteCount(preview.availableBytes)) "
                + "are free\n"
                + OmissionLines(title: "would not restore", omissions: report.omissions).text
        }
        return "\(archive.sourceText): \(action.done) into \(place): \(TotalsText(report.totals))\n"
            + proof + replacement(title: "replaced")
            + OmissionLines(title: "not restored", omissions: report.omissions).text
            + (archive.command.map { CommandAnswer($0.result).text } ?? "")
    }

    /// What the import replaced, and where that is now.
    private func replacement(title: String) -> String {
        guard let replaced = report.replaced else { return "" }
        let least = replaced.isPartial ? "at least " : ""
        let parts = Listing.text(of: replaced.parts, count: replaced.partCount) { part in
            "\(title)  \(part.name): \(TotalsText(part.totals))"
        }
        let place = report.keptContainer.map { kept in
            preview == nil
                ? "kept it in \(kept); 'migrate recover' says how to go back\n"
                : "would keep it in \(kept)\n"
        }
        return "\(title) \(least)\(TotalsText(replaced.totals))\n" + parts + (place ?? "")
    }

    private enum CodingKeys: String, CodingKey {
        case appExtension, archive, archiveBase64, command, destination, destinationBase64, dryRun
        case fingerprint, hasTrailer, header, isSkipped, lacksEndMark, leftovers, omissions
        case keptContainer, keptContainerBase64, replaced, replacedData, totals
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(report.appExtension, forKey: .appExtension)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
        let command = archive.command.map { CommandAnswer($0.result) }
        try container.encodeIfPresent(command, forKey: .command)
        try container.encode(ExactName(destination), forKey: .destination, or: .destinationBase64)
        try container.encodeIfPresent(preview.map(EncodedPreview.init), forKey: .dryRun)
        try container.encodeIfPresent(report.fingerprint?.description, forKey: .fingerprint)
        try container.encode(report.hasTrailer, forKey: .hasTrailer)
        try container.encodeIfPresent(report.header, forKey: .header)
        if action == .import { try container.encode(report.isSkipped, forKey: .isSkipped) }
        try container.encode(report.lacksEndMark, forKey: .lacksEndMark)
        try container.encode(report.leftovers.map(\.description), forKey: .leftovers)
        try container.encode(report.omissions, forKey: .omissions)
        if let kept = report.keptPath {
            let name = ExactName(kept)
            try container.encode(name, forKey: .keptContainer, or: .keptContainerBase64)
        }
        try container.encodeIfPresent(
            report.replaced.map(EncodedReplacement.init),
            forKey: .replaced
        )
        try container.encode(report.replacedData, forKey: .replacedData)
        try container.encode(report.totals, forKey: .totals)
    }
}

/// The data that an import replaced, in JSON.
private struct EncodedReplacement: Encodable {
    private struct Part: Encodable {
        let name: ExactName
        let totals: ArchiveTotals

        private enum CodingKeys: String, CodingKey {
            case name, nameBase64, totals
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name, or: .nameBase64)
            try container.encode(totals, forKey: .totals)
        }
    }

    private let isPartial: Bool
    private let partCount: Int
    private let parts: [Part]
    private let totals: ArchiveTotals

    init(_ replaced: ReplacedData) {
        (isPartial, partCount) = (replaced.isPartial, replaced.partCount)
        parts = replaced.parts.map { Part(name: ExactName($0.nameBytes), totals: $0.totals) }
        totals = replaced.totals
    }
}

/// The effects that an import would have, in JSON.
private struct EncodedPreview: Encodable {
    let availableBytes: UInt64
    let neededBytes: UInt64
    let replacedTotals: ArchiveTotals?

    init(_ preview: ImportPreview) {
        availableBytes = preview.availableBytes
        neededBytes = preview.neededBytes
        replacedTotals = preview.replacedTotals
    }
}
