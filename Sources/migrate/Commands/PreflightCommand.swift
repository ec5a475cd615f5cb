internal import MigrationArchive
internal import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// `migrate preflight`: asks an extension for its properties and checks it for mistakes.
struct PreflightCommand: LockingCommand {
    private(set) var container: BytePath = ""
    private(set) var appExtension = ExtensionFlags()
    private(set) var bundleIdentifier: String?
    private(set) var rehearsesCancellation = false
    private(set) var waitLimit = Duration.zero
    private(set) var answersInJSON = false
    private var rehearsedVersion: String?
    private var rehearsedArchive: ArchiveName?
    private var rehearsedSource = ImportSource()

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
        Flag.bundleIdentifier(
            help: "The app's bundle identifier, if the container does not name it.",
            to: \.bundleIdentifier
        )
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
        SourceFlags.flags(to: \.rehearsedSource).map { $0.needing(rehearseVersion) }
        Flag.wait(to: \.waitLimit)
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example(
            "Ask an extension what it can do.",
            "migrate preflight -c notes --extension ./NotesMigration"
        ),
        Example(
            "See whether it ends when an export is cancelled.",
            "migrate preflight -c notes --extension ./Notes --rehearse-cancellation"
        ),
        Example(
            "See whether it refuses data of a version that it can't know.",
            "migrate preflight -c notes --extension ./Notes --rehearse-version 99"
        ),
    ]

    func check(_ given: GivenFlags) throws(UsageError) {
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
        guard let hosted = try appExtension.hosted(on: console, for: .preflight, isVerbose: true)
        else {
            throw UsageError("option '--extension' is missing")
        }
        let container = try MigrationDataContainer(
            atPath: container,
            naming: bundleIdentifier
        )
        let report = try await host(on: context.console).preflight(
            container,
            using: hosted,
            rehearsesCancellation: rehearsesCancellation,
            versionRehearsal: versionRehearsal
        )
        try context.console.output.write(PreflightAnswer(report), inJSON: answersInJSON)
        return code(for: report.findings)
    }

    /// An app group that would be lost stops a preflight as it stops an export.
    private func code(for findings: [ExtensionFinding]) -> ExitCode {
        if findings.isEmpty { return .success }
        let isOfGroups = findings.contains {
            [.groupNotMapped, .groupNotDeclared].contains($0.code)
        }
        return isOfGroups ? .notPermitted : .findings
    }
}

// MARK: - Answer

/// The answer of `migrate preflight`.
struct PreflightAnswer: Answer {
    let report: PreflightReport

    init(_ report: PreflightReport) {
        self.report = report
    }

    var schema: String { "migrate/preflight/1" }

    var text: String {
        let rows =
            wasStarted
            ? sessionRows : [("entitlement", "not valid: the extension was not started")]
        let name = [("extension", PrintableText.escaping(report.name))]
        return Table(rows: name + rows + groupRows + rehearsalRows).text
            + report.warnings.reduce("") {
                $0 + "warning: \(PrintableText.entitlementWarning($1))\n"
            }
            + FindingLines(report.findings).lines.reduce("") { $0 + $1 + "\n" }
    }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
    }

    /// Whether the entitlements let the extension run.
    private var wasStarted: Bool { report.entitlement != nil }

    private var sessionRows: [(String, String)] {
        let gaps = Self.rows("not confined", phrases: PreflightText.gaps(report.confinement))
        let user = report.confinement.user.map { [("runs as", $0)] } ?? []
        let bounds = Self.rows("bounded", phrases: report.confinement.bounds)
        let paths = PreflightText.paths(report.paths).map { [("paths", $0)] } ?? []
        return [
            ("entitlement", PrintableText.escaping(report.entitlement ?? "")),
            ("exports", report.exports.map(PreflightText.version) ?? "no"),
            ("imports", report.imports ? "yes" : "no"),
        ] + exportRows + user + [("confined", PreflightText.confinement(report.confinement))] + gaps
            + bounds + paths
    }

    /// One row per phrase; the first one has the title.
    private static func rows(_ title: String, phrases: [String]) -> [(String, String)] {
        phrases.enumerated().map { index, phrase in (index == 0 ? title : "", phrase) }
    }

    private var groupRows: [(String, String)] {
        PreflightText.groups(report).enumerated().map { index, group in
            (index == 0 ? "app groups" : "", group)
        }
    }

    private var rehearsalRows: [(String, String)] {
        guard let rehearsed = report.rehearsedVersion else { return [] }
        let result = rehearsed.refusal.map { "refused: \(PrintableText.escaping($0))" }
        let version = PrintableText.escaping(rehearsed.version)
        return [("rehearsal", "version \(version): \(result ?? "imported anyway")")]
    }

    private var exportRows: [(String, String)] {
        guard let exports = report.exports else { return [] }
        return [
            ("options", exports.options.isEmpty ? "none" : PreflightText.options(exports)),
            ("size", PreflightText.space(report, includingEstimate: true)),
        ]
    }
}
