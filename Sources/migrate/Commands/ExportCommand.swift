internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// `migrate export`: exports one container into one archive.
struct ExportCommand: LockingCommand, ReplacingCommand, RecordedCommand {
    private(set) var container: BytePath = ""
    private(set) var archive = ArchiveName()
    private(set) var content = ContentFlags()
    private(set) var encryption = EncryptionFlags()
    private(set) var signingKey: BytePath?
    private(set) var replacesExisting = false
    private(set) var resultFile: BytePath?
    private var existing: ExistingArchive.Policy?
    private var resumes = false
    private(set) var waitLimit = Duration.zero
    private(set) var answersInJSON = false
    private var records = RecordFlags()
    private var isVerbose = false
    private var isDryRun = false
    private var isQuiet = false
    private(set) var progress = ProgressMode.auto

    static let name = "export"
    static let abstract = "Export a container into an archive."

    static var flags: [Flag<Self>] {
        Flag.container(
            help: "The container: a directory or an .xcappdata bundle.",
            to: \.container
        )
        Flag("out", short: "o", value: "archive", as: .archive, to: \.archive)
            .help("The archive to write, or '-' for standard output.")
            .unless(outCommand)
            .about(.archive)
        Flag.force(replacing: "an archive", sets: \.replacesExisting).excluding(ifExists)
        ifExists
        ContentFlags.flagsOfWriting.map { $0.included(at: \.content) }
        outCommand
        EncryptionFlags.included(at: \.encryption)
        Flag("sign-key", value: "file", as: .path, to: \.signingKey)
            .help("Sign the archive with this SSH key, as 'migrate sign' does.")
            .about(.signature)
        Flag("resume", sets: \.resumes)
            .help(
                "Go on with what an interrupted export has left of the archive, and leave what is written "
                    + "if this one fails."
            )
            .excluding(ifExists)
            .about(.archive)
        Flag.dryRun(
            "Read everything and answer as an export would, but write no archive.",
            sets: \.isDryRun
        )
        Flag.quiet(sets: \.isQuiet)
        Flag.verboseNamingFiles(sets: \.isVerbose)
        Flag.json(sets: \.answersInJSON)
        Flag.progress(to: \.progress)
        Flag.wait(to: \.waitLimit)
        ContentFlags.threads.included(at: \.content)
        Flag.result(to: \.resultFile)
        RecordFlags.included(at: \.records)
    }

    static let examples = [
        Example(
            "Export the container of an app.",
            "migrate export --container notes --out notes.tar.zst"
        ),
        Example(
            "Let the app's own extension choose the data.",
            "migrate export -c notes -o notes.tar.zst --extension ./NotesMigration"
        ),
        Example(
            "Encrypt the archive for the public keys in a file.",
            "migrate export -c notes -o notes.tar.zst.age --recipients-file team.keys"
        ),
    ]

    private static let outCommand = Flag<Self>(
        "out-command",
        value: "command",
        as: .command,
        to: \.archive
    )
    .help(
        "Have a shell command read the archive, and kill it if the export fails; '{bytes}' in it is "
            + "the estimated size."
    )
    .about(.archive)

    private static let ifExists = Flag<Self>(
        "if-exists",
        value: "policy",
        as: .choice,
        to: \.existing
    )
    .help(
        "If there is an archive of that name: 'keep' it and do nothing, 'verify' that it is whole "
            + "and of the container's present data and do nothing, or 'replace' it."
    )
    .about(.archive)

    mutating func check(_ given: GivenFlags) throws(UsageError) {
        if existing != nil || replacesExisting, archive.isStream {
            let flag = existing == nil ? "--force" : "--if-exists"
            throw UsageError("option '\(flag)' is about a file, which '--out' must name")
        }
        if existing == .replace { replacesExisting = true }
        try checkResuming()
        try content.check()
        try encryption.check()
        guard signingKey == nil || !archive.isStream else {
            let stream = archive.isStandardStream ? "'-'" : "a command"
            throw UsageError("with \(stream) for the archive, there is no place for its signature")
        }
        guard !(isVerbose && answersInJSON && archive.isStandardStream) else {
            throw UsageError("with '-' for the archive, --json and --verbose share standard error")
        }
    }

    private func checkResuming() throws(UsageError) {
        guard resumes else { return }
        guard !archive.isStream else {
            throw UsageError("option '--resume' is about a file, which '--out' must name")
        }
        guard !encryption.isGiven else {
            throw UsageError(
                "an encrypted archive can't be resumed, because every export has a key of its own: drop "
                    + "'--resume'"
            )
        }
        guard !isDryRun else {
            throw UsageError("option '--resume' can't be given with '--dry-run'")
        }
    }

    var subject: String { PrintableText.escaping(container) }

    func subject(of error: any Error) -> String {
        error.isOfOutput ? archive.destinationText : subject
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(isQuiet)
        var destination = try archive.destination(
            replacesExisting: replacesExisting,
            on: console
        )
        if resumes { destination = destination.resumed() }
        if let encryption = try encryption.encryption() {
            destination = destination.encrypted(with: encryption)
        }
        let source = try content.source(container)
        var options = try content.options()
        if let existing, let found = try ExistingArchive(archive, policy: existing) {
            return try await answer(for: found, of: source, options: options, in: context)
        }
        let record = try OperationRecord(records)
        options.entryHandler = record.entryHandler(besides: console.entryLog(isVerbose: isVerbose))
        let report = try await record.watching(console) {
            try await export(source, to: destination, options: options, record, on: console)
        }
        context.outcome.note(
            fingerprint: report.fingerprint.description,
            bytes: report.totals.contentBytes,
            archiveBytes: report.archiveBytes
        )
        try answer(with: report, on: console)
        try record.finish { tree, log in page(about: report, of: source, tree: tree, log: log) }
        return .success
    }

    private func export(
        _ source: MigrationDataContainer,
        to destination: ArchiveDestination,
        options: ExportOptions,
        _ record: OperationRecord,
        on console: Console
    ) async throws -> ExportReport {
        try await ProgressDisplay.showing(isQuiet ? .none : progress, on: console) { progress in
            let hosted = record.recording(
                try content.appExtension.hosted(on: console, for: .export, isVerbose: isVerbose)
            )
            guard !isDryRun else {
                return try await host(on: console).previewExport(
                    of: source,
                    to: destination,
                    using: hosted,
                    options: options,
                    progress: progress
                )
            }
            return try await host(on: console).export(
                source,
                to: destination,
                using: hosted,
                options: options,
                progress: progress
            )
        }
    }

    private func page(
        about report: ExportReport,
        of source: MigrationDataContainer,
        tree: ReportTree,
        log: SessionLog?
    ) -> ReportPage {
        var tree = tree
        for omission in report.omissions.items where omission.bytes > 0 {
            tree.add(omission.pathBytes, bytes: omission.bytes, as: .omitted)
        }
        for item in report.leftBehind?.items ?? [] where item.group == nil && item.bytes > 0 {
            tree.add(item.pathBytes, bytes: item.bytes, as: .leftBehind)
        }
        let answer = InspectionAnswer(
            archive: archive,
            archiveBytes: report.archiveBytes,
            fingerprint: report.fingerprint.description,
            frameCount: nil,
            header: report.header,
            streamBytes: report.streamBytes,
            totals: report.totals
        )
        var page = ReportPage(
            title: "Export of \(PrintableText.escaping(container))",
            facts: [("container", PrintableText.escaping(container))]
                + answer.rows.map {
                    ($0.name, $0.name == "archive" ? archive.destinationText : $0.value)
                },
            tree: tree
        )
        page.omissions = report.omissions
        page.leftBehind = report.leftBehind
        page.findings = report.appExtension?.findings ?? []
        page.session = log
        return page
    }

    /// Answers for an archive that exists already, and signs it if its signature is missing.
    private func answer(
        for found: ExistingArchive,
        of source: MigrationDataContainer,
        options: ExportOptions,
        in context: CommandContext
    ) async throws -> ExitCode {
        let console = context.console.quieted(isQuiet)
        let answer = try await ProgressDisplay.showing(
            isQuiet ? .none : progress,
            on: console
        ) { progress in
            try await found.answer(signedWith: signingKey) {
                try await host(on: console).fingerprint(
                    of: source,
                    using: try content.appExtension.hosted(
                        on: console,
                        for: .export,
                        isVerbose: isVerbose
                    ),
                    options: options,
                    progress: progress
                ).fingerprint
            }
        }
        context.outcome.note(fingerprint: answer.fingerprint, isSkipped: true)
        if !isQuiet { try console.conclude(with: answer, inJSON: answersInJSON) }
        return .success
    }

    private func answer(with report: ExportReport, on console: Console) throws {
        let answer = ExportAnswer(archive, report: report, isDryRun: isDryRun)
        if archive.isStandardStream, answersInJSON {
            // Standard error then holds one document, which includes everything in the lines.
            try console.conclude(with: answer, inJSON: true, on: console.errors)
            return
        }
        console.logExternalLinks(of: report)
        let stream = archive.isStandardStream ? console.errors : console.output
        if !isQuiet { try console.conclude(with: answer, inJSON: answersInJSON, on: stream) }
        try console.logFindings(of: report.appExtension)
        if let signingKey, !isDryRun {
            try ArchiveStatement(report).sign(
                keyPath: signingKey,
                toPath: BytePath(archive.path.bytes + Array(".sig".utf8)),
                replacesExisting: replacesExisting,
                on: MigrationOperation(cancellation: SignalWatch.interruption)
            )
        }
    }
}

// MARK: - Answer

/// The answer of `migrate export`.
struct ExportAnswer: Answer {
    var appExtension: ExtensionReport?
    let archive: ArchiveName
    let archiveBytes: UInt64
    var command: CommandAnswer?
    let compressedStreamBytes: UInt64
    let externalLinkCount: Int
    let externalLinks: [ExternalLink]
    let fingerprint: String
    let header: ArchiveHeader
    var isDryRun = false
    var leftBehind: LeftBehind?
    let omissions: OmissionList
    var resumedBytes: UInt64?
    let streamBytes: UInt64
    let totals: ArchiveTotals
    /// The fate of an archive that was sent to another host.
    var transfer: TransferAnswer?

    var schema: String { "migrate/export/1" }

    var text: String {
        let share = percentage(archiveBytes, of: totals.contentBytes).map { " (\($0))" } ?? ""
        let size = "\(ByteCount(archiveBytes))\(share)"
        let verb = isDryRun ? "would hold " : ""
        return "\(archive.destinationText): \(verb)\(TotalsText(totals)) in \(size)\n"
            + (resumedBytes.map(resumption) ?? "")
            + "fingerprint \(fingerprint)\n"
            + (header.bundleIdentifier == nil ? Self.unnamed : "")
            + OmissionLines(title: "left out", omissions: omissions).text
            + (leftBehind.map { LeftBehindLines($0).text } ?? "")
            + (command?.text ?? "")
            + (transfer?.text ?? "")
    }

    private static let unnamed =
        "the archive names no app, since the container doesn't; name it with '--bundle-id'\n"

    private func resumption(_ resumedBytes: UInt64) -> String {
        transfer.map { $0.resumption(resumedBytes) }
            ?? "resumed behind \(ByteCount(resumedBytes)) that were written before\n"
    }
}

extension ExportAnswer {
    init(_ archive: ArchiveName, report: ExportReport, isDryRun: Bool = false) {
        self.init(
            appExtension: report.appExtension,
            archive: archive,
            archiveBytes: report.archiveBytes,
            command: archive.command.map { CommandAnswer($0.result) },
            compressedStreamBytes: report.compressedStreamBytes,
            externalLinkCount: report.externalLinkCount,
            externalLinks: report.externalLinks,
            fingerprint: report.fingerprint.description,
            header: report.header,
            isDryRun: isDryRun,
            leftBehind: report.leftBehind,
            omissions: report.omissions,
            resumedBytes: report.resumedBytes,
            streamBytes: report.streamBytes,
            totals: report.totals
        )
    }
}

extension ExportAnswer {
    private enum CodingKeys: String, CodingKey {
        case appExtension, archive, archiveBase64, archiveBytes, command, compressedStreamBytes
        case externalLinkCount, externalLinks, fingerprint, header, isDryRun, leftBehind
        case omissions, resumedBytes, streamBytes, totals, transfer
    }

    private struct EncodedLink: Encodable {
        let link: ExternalLink

        private enum CodingKeys: String, CodingKey {
            case path, pathBase64, target, targetBase64
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(ExactName(link.path.bytes), forKey: .path, or: .pathBase64)
            try container.encode(ExactName(link.target), forKey: .target, or: .targetBase64)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(appExtension, forKey: .appExtension)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
        try container.encode(archiveBytes, forKey: .archiveBytes)
        try container.encodeIfPresent(command, forKey: .command)
        try container.encode(compressedStreamBytes, forKey: .compressedStreamBytes)
        try container.encode(externalLinkCount, forKey: .externalLinkCount)
        try container.encode(externalLinks.map(EncodedLink.init), forKey: .externalLinks)
        try container.encode(fingerprint, forKey: .fingerprint)
        try container.encode(header, forKey: .header)
        if isDryRun { try container.encode(isDryRun, forKey: .isDryRun) }
        try container.encodeIfPresent(leftBehind, forKey: .leftBehind)
        try container.encode(omissions, forKey: .omissions)
        try container.encodeIfPresent(resumedBytes, forKey: .resumedBytes)
        try container.encode(streamBytes, forKey: .streamBytes)
        try container.encode(totals, forKey: .totals)
        try container.encodeIfPresent(transfer, forKey: .transfer)
    }
}
