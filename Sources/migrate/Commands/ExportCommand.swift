internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate export`: exports one container into one archive.
struct ExportCommand: ExportingCommand {
    private(set) var container: BytePath = ""
    private(set) var archive = ArchiveName()
    private(set) var content = ContentFlags()
    private(set) var encryption = EncryptionFlags()
    private(set) var signingKey: BytePath?
    private var existing: ExistingArchive.Policy?
    private var resumes = false
    private var records = RecordFlags()
    private var isDryRun = false
    var common = CommonOptions()

    static let name = "export"
    static let abstract = "Export a container into an archive."

    static var flags: [Flag<Self>] {
        Flag.container(to: \.container)
        Flag("out", short: "o", value: "archive", as: .archive, to: \.archive)
            .help("The archive to write, or '-' for standard output.")
            .unless(outCommand)
            .about(.archive)
        Flag.force(replacing: "an archive").excluding(ifExists)
        ifExists
        ContentFlags.flagsOfWriting.map { $0.included(at: \.content) }
        outCommand
        EncryptionFlags.included(at: \.encryption)
        Flag("sign-key", value: "file", as: .path, to: \.signingKey)
            .help("Sign the archive with this SSH key, as 'migrate sign' does.")
            .about(.signature)
        Flag("resume", sets: \.resumes)
            .help(
                "Resume an interrupted export to the archive, and keep what is written if this one "
                    + "fails."
            )
            .excluding(ifExists)
            .about(.archive)
        Flag.dryRun(
            "Read everything and answer as an export would, but write no archive.",
            sets: \.isDryRun
        )
        Flag.quiet
        Flag.verboseNamingFiles
        Flag.json
        Flag.progress
        Flag.wait
        ContentFlags.threads.included(at: \.content)
        Flag.result
        RecordFlags.included(at: \.records)
    }

    static let examples: Examples = [
        "Export the container of an app.": "migrate export --container notes --out notes.tar.zst",
        "Let the app's own extension choose the data.":
            "migrate export -c notes -o notes.tar.zst --extension ./NotesMigration",
        "Encrypt the archive for the public keys in a file.":
            "migrate export -c notes -o notes.tar.zst.age --recipients-file team.keys",
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

    mutating func check() throws(UsageError) {
        if existing != nil || common.replacesExisting, archive.isStream {
            let flag = existing == nil ? "--force" : "--if-exists"
            throw UsageError("option '\(flag)' is about a file, which '--out' must name")
        }
        if existing == .replace { common.replacesExisting = true }
        try checkResuming()
        try content.check()
        try encryption.check()
        guard signingKey == nil || !archive.isStream else {
            let stream = archive.isStandardStream ? "'-'" : "a command"
            throw UsageError("with \(stream) for the archive, there is no place for its signature")
        }
        guard !(common.isVerbose && common.answersInJSON && archive.isStandardStream) else {
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

    var outputSubject: String { archive.destinationText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console.quieted(common.isQuiet)
        var destination = try archive.destination(
            replacesExisting: common.replacesExisting,
            on: console
        )
        if resumes { destination = destination.resumed() }
        if let encryption = try encryption.encryption() {
            destination = destination.encrypted(with: encryption)
        }
        let source = try content.source(container)
        let options = try content.options()
        if let existing, let found = try ExistingArchive(at: archive.path, policy: existing) {
            return try await keep(found, in: context) {
                try await export(source, options, for: .fingerprint, on: console).fingerprint
            }
        }
        let record = try records.record()
        let purpose: ExportPurpose = isDryRun ? .preview(destination) : .archive(destination)
        let report = try await record.watching(warning: console.warn(of:)) {
            try await export(source, options, for: purpose, record, on: console)
        }
        let answer = ExportAnswer(archive, report: report, isDryRun: isDryRun, .ofFlags)
        try conclude(answer, in: context)
        if let signingKey, !isDryRun {
            try ArchiveStatement(report).sign(
                keyPath: signingKey,
                toPath: SignatureFlags.path(nil, of: archive),
                replacesExisting: common.replacesExisting,
                on: MigrationOperation(cancellation: SignalWatch.interruption)
            )
        }
        try record.finish { tree, log in
            ReportPage(about: report, of: container, to: archive, tree: tree, session: log)
        }
        return .success
    }

    private func keep(
        _ found: ExistingArchive,
        in context: CommandContext,
        comparedWith fingerprint: () async throws -> Fingerprint
    ) async throws -> ExitCode {
        let found = try await found.check(
            // An encrypted archive is opened with the keys of the environment.
            openedWith: DecryptionFlags().decryption(),
            signedWith: signingKey,
            in: SignatureFlags.path(nil, of: archive),
            on: MigrationOperation(cancellation: SignalWatch.interruption),
            comparedWith: fingerprint
        )
        let state: ExistingArchiveAnswer.State = existing == .verify ? .unchanged : .kept
        context.outcome.note(fingerprint: found?.description, isSkipped: true)
        let answer = ExistingArchiveAnswer(archive, state, fingerprint: found)
        try common.conclude(with: answer, on: context.console.quieted(common.isQuiet))
        return .success
    }
}
