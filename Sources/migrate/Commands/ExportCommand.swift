import MigrationArchive
import MigrationCore

/// `migrate export`: one container into one archive.
struct ExportCommand: LockingCommand {
    static let description = CommandDescription(
        name: "export",
        abstract: "Export a container into an archive.",
        options: [
            .container("The container: a directory or an .xcappdata bundle."),
            OptionDescription(
                name: "out",
                help: "The archive to make, or '-' for standard output.",
                valueName: "archive",
                isRequired: true,
                completion: .file
            ),
            .bundleIdentifier("The app's bundle identifier, where the container does not say it."),
            OptionDescription(
                name: "source-platform",
                help: "The platform that the data comes from, such as 'iOS'; by default what the "
                    + "container shows.",
                valueName: "p"
            ),
            OptionDescription(
                name: "destination-platform",
                help: "The platform that the data goes to, which the extension is told; 'android' "
                    + "by default.",
                valueName: "p",
                companion: "extension"
            ),
            OptionDescription(
                name: "resources-version",
                help: "The version of the data's format, for the importing app; 1.0 by default.",
                valueName: "v",
                rival: "extension"
            ),
            OptionDescription(
                name: "no-compress",
                help: "Store the content as it is.",
                rival: "extension"
            ),
            .level(byDefault: 3),
            .includeCaches.without("extension"),
            OptionDescription(
                name: "exclude",
                help: "Leave out what matches the pattern; may be given again.",
                valueName: "pattern",
                isRepeatable: true,
                rival: "extension"
            ),
            .appExtension(
                "The app's own extension, which says what is exported; without it, everything is."
            ),
            DestinationOptions.description,
        ] + OptionDescription.extensionTerms + EncryptionOptions.descriptions + [
            OptionDescription(
                name: "sign-key",
                help: "Sign the archive with this SSH key, as 'migrate sign' does.",
                valueName: "file",
                completion: .file
            ),
            .wait,
            .threads,
            OptionDescription(
                name: "strict",
                help: "Fail where something can't be archived: a special file, an access control "
                    + "list, an attribute outside 'user.'."
            ),
            OptionDescription(
                name: "expect-complete",
                help: "Fail where the extension leaves something behind outside of Library/Caches "
                    + "and tmp.",
                companion: "extension"
            ),
            .force(replacing: "an archive"),
            .json,
            .progress,
        ]
    )

    let container: [UInt8]
    let archive: ArchiveName
    let bundleIdentifier: String?
    let appExtension: ExtensionOptions?
    let options: ExportOptions
    let encryption: EncryptionOptions?
    let signingKey: [UInt8]?
    let replacesExisting: Bool
    let waitLimit: Duration
    let answersInJSON: Bool
    let progress: ProgressMode

    var subject: String { PrintableText.escaping(container) }

    func subject(of error: any Error) -> String {
        guard error.isOfOutput else { return subject }
        return archive.isStandardStream ? "standard output" : PrintableText.escaping(archive.bytes)
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        container = try arguments.path("container")
        archive = ArchiveName(try arguments.path("out"))
        bundleIdentifier = try arguments.text("bundle-id")
        appExtension = try arguments.appExtension
        options = try Self.options(arguments)
        encryption = try EncryptionOptions(arguments)
        signingKey = arguments.isGiven("sign-key") ? try arguments.path("sign-key") : nil
        guard signingKey == nil || !archive.isStandardStream else {
            throw UsageError("with '-' for the archive there is no place for its signature")
        }
        replacesExisting = arguments.has("force")
        waitLimit = try arguments.waitLimit
        answersInJSON = arguments.has("json")
        progress = try arguments.progress
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        var destination = try archive.destination(
            replacingExisting: replacesExisting,
            console: console
        )
        if let encryption { destination = destination.encrypted(with: try encryption.encryption()) }
        let source = try MigrationDataContainer(
            atPath: container,
            bundleIdentifier: bundleIdentifier
        )
        let report = try await ProgressDisplay.showing(progress, on: console) { progress in
            try await host(on: console).exportContainer(
                source,
                to: destination,
                using: appExtension?.hosted(on: console, to: .export),
                options: options,
                progress: progress
            )
        }
        let answer = ExportAnswer(archive, report)
        if archive.isStandardStream, answersInJSON {
            // Standard error is one document then, which says all that the lines would.
            try console.errors.write(answer, inJSON: true)
            return .success
        }
        warn(ofLinksIn: report, on: console)
        let stream = archive.isStandardStream ? console.errors : console.output
        try stream.write(answer, inJSON: answersInJSON)
        try console.logFindings(of: report.appExtension)
        if let signingKey {
            try ArchiveStatement(report).sign(
                keyPath: signingKey,
                toPath: archive.bytes + [UInt8](".sig".utf8),
                replacingExisting: replacesExisting
            )
        }
        return .success
    }

    private func warn(ofLinksIn report: ExportReport, on console: Console) {
        let shown = report.externalLinks.prefix(OmissionLines.limit)
        for link in shown {
            console.log(
                "migrate: warning: \(link) leads out of the container: an import refuses it "
                    + "unless --external-links says otherwise"
            )
        }
        if report.externalLinkCount > shown.count {
            let rest = UnshownItems(
                count: report.externalLinkCount,
                shown: shown.count,
                listed: report.externalLinks.count,
                name: "more such links"
            )
            console.log("migrate: warning: \(rest)")
        }
    }

    private static func options(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> ExportOptions {
        var options = ExportOptions()
        options.platform = try arguments.text("source-platform").map { MigrationPlatform($0) }
        if let platform = try arguments.text("destination-platform") {
            options.destinationPlatform = MigrationPlatform(platform)
        }
        if arguments.isGiven("extension") {
            options.destinationOptions = try DestinationOptions.read(arguments)
        }
        if let version = try arguments.text("resources-version") {
            options.resourcesVersion = version
        }
        options.isCompressible = !arguments.has("no-compress")
        options.compressionLevel = try arguments.level ?? options.compressionLevel
        options.isStrict = arguments.has("strict")
        options.expectsComplete = arguments.has("expect-complete")
        options.includesCaches = arguments.has("include-caches")
        options.threadCount = try arguments.threads
        for pattern in try arguments.texts("exclude") {
            do throws(MigrationError) {
                options.exclusions.append(try ExclusionPattern(pattern))
            } catch {
                throw UsageError("option '--exclude': \(error)")
            }
        }
        return options
    }
}
