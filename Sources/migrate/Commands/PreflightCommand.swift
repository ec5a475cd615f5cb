import MigrationArchive
import MigrationCore

/// `migrate preflight`: what an extension says of itself, and what is wrong with it.
struct PreflightCommand: LockingCommand {
    static let description = CommandDescription(
        name: "preflight",
        abstract: "Ask an app's extension what it can do, before any data moves.",
        options: [
            .container("The app's container, in which nothing changes."),
            .bundleIdentifier("The app's bundle identifier, where the container does not say it."),
            .appExtension("The app's extension.", isRequired: true),
        ] + OptionDescription.extensionTerms + [
            OptionDescription(
                name: "rehearse-cancellation",
                help: "Begin an export and cancel it, to see whether the extension ends."
            ),
            OptionDescription(
                name: "rehearse-version",
                help:
                    "Import in this version, which the extension can't know, into a container that "
                    + "is not kept, to see whether it refuses.",
                valueName: "v"
            ),
            OptionDescription(
                name: "archive",
                help: "The archive to rehearse with; by default the extension exports one.",
                valueName: "archive",
                completion: .file,
                companion: "rehearse-version"
            ),
        ] + SourceOptions.descriptions.map { $0.with("rehearse-version") } + [.wait, .json]
    )

    let container: [UInt8]
    let appExtension: ExtensionOptions
    let bundleIdentifier: String?
    let rehearsesCancellation: Bool
    let waitLimit: Duration
    let versionRehearsal: VersionRehearsal?
    let answersInJSON: Bool

    var isForItsAnswer: Bool { true }

    var subject: String { PrintableText.escaping(container) }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        container = try arguments.path("container")
        guard let appExtension = try arguments.appExtension else {
            throw UsageError("option '--extension' is missing")
        }
        self.appExtension = appExtension
        bundleIdentifier = try arguments.text("bundle-id")
        rehearsesCancellation = arguments.has("rehearse-cancellation")
        waitLimit = try arguments.waitLimit
        versionRehearsal = try Self.versionRehearsal(arguments)
        answersInJSON = arguments.has("json")
    }

    private static func versionRehearsal(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> VersionRehearsal? {
        guard let version = try arguments.text("rehearse-version") else { return nil }
        var rehearsal = VersionRehearsal(version: version)
        rehearsal.source = try SourceOptions.read(arguments)
        if arguments.isGiven("archive") {
            let archive = ArchiveName(try arguments.path("archive"))
            guard !archive.isStandardStream else {
                throw UsageError("option '--archive' needs a file: it is read twice")
            }
            rehearsal.archive = .file(path: archive.bytes)
        }
        return rehearsal
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        let report = try await host(on: context.console).preflight(
            container,
            using: appExtension.hosted(on: context.console, to: .preflight),
            rehearsesCancellation: rehearsesCancellation,
            versionRehearsal: versionRehearsal
        )
        let answer = PreflightAnswer(report)
        try context.console.output.write(answer, inJSON: answersInJSON)
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
