internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// `migrate preflight`: asks an extension for its properties and checks it for mistakes.
struct PreflightCommand: Command {
    private(set) var container: BytePath = ""
    private(set) var appExtension = ExtensionFlags()
    private(set) var bundleIdentifier: String?
    private(set) var rehearsesCancellation = false
    private var rehearsedVersion: String?
    private var rehearsedArchive: ArchiveName?
    private var rehearsedSource = ImportSource()
    var common = CommonOptions()

    static let name = "preflight"
    static let abstract = "Ask an app's extension what it can do, before any data moves."

    private static let rehearseVersion = Flag<Self>(
        "rehearse-version",
        value: "v",
        as: .text,
        to: \.rehearsedVersion
    )
    .help(
        "Import data of this version, which the extension can't know, into a temporary "
            + "container, to see whether the extension refuses it."
    )
    .about(.extension)

    static var flags: [Flag<Self>] {
        Flag.container(help: "The app's container, which is not changed.", to: \.container)
        Flag.bundleIdentifier(to: \.bundleIdentifier)
        ExtensionFlags.executable.required.included(at: \.appExtension)
        ExtensionFlags.terms.map { $0.included(at: \.appExtension) }
        Flag("rehearse-cancellation", sets: \.rehearsesCancellation)
            .help("Begin an export and cancel it, to see whether the extension ends.")
            .about(.extension)
        rehearseVersion
        Flag("archive", value: "archive", as: .archive, to: \.rehearsedArchive)
            .help("The archive to rehearse with; by default the extension exports one.")
            .about(.extension)
            .needing(rehearseVersion)
        ImportSource.included(at: \.rehearsedSource).map { $0.needing(rehearseVersion) }
        Flag.wait
        Flag.json
    }

    static let examples: Examples = [
        "Ask an extension what it can do.":
            "migrate preflight -c notes --extension ./NotesMigration",
        "See whether it ends when an export is cancelled.":
            "migrate preflight -c notes --extension ./Notes --rehearse-cancellation",
        "See whether it refuses data of a version that it can't know.":
            "migrate preflight -c notes --extension ./Notes --rehearse-version 99",
    ]

    func check() throws(UsageError) {
        try appExtension.check()
        guard rehearsedArchive?.isStandardStream != true else {
            throw UsageError("option '--archive' needs a file: it is read twice")
        }
    }

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(container) }

    private var versionRehearsal: VersionRehearsal? {
        guard let rehearsedVersion else { return nil }
        var rehearsal = VersionRehearsal(version: rehearsedVersion)
        rehearsal.source = rehearsedSource
        if let rehearsedArchive { rehearsal.archive = .file(path: rehearsedArchive.path) }
        return rehearsal
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        guard let hosted = try appExtension.hosted(on: console, for: .preflight, common) else {
            throw UsageError("option '--extension' is missing")
        }
        let container = try MigrationDataContainer(
            atPath: container,
            naming: bundleIdentifier
        )
        let report = try await common.host(on: context.console).preflight(
            container,
            using: hosted,
            rehearsesCancellation: rehearsesCancellation,
            versionRehearsal: versionRehearsal
        )
        try common.answer(
            with: PreflightAnswer(report, advice: ErrorMessage.Hint.advice),
            on: context.console
        )
        return code(for: report.findings)
    }

    /// An app group that would be lost stops a preflight like an export.
    private func code(for findings: [ExtensionFinding]) -> ExitCode {
        if findings.isEmpty { return .success }
        let isOfGroups = findings.contains {
            [.groupNotMapped, .groupNotDeclared].contains($0.code)
        }
        return isOfGroups ? .notPermitted : .findings
    }
}
