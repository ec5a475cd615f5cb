import AndroidMigration
import MigrationArchive
import MigrationCore

/// `migrate android convert`: a backup of Android's into an archive, or the way back.
struct AndroidConvertCommand: Command {
    enum Target: String, CaseIterable, Sendable {
        case ios, android
    }

    static let description = CommandDescription(
        name: "android convert",
        abstract: "Make an archive for iOS of an Android app's backup, or the way back.",
        arguments: [.backup],
        options: [
            OptionDescription(
                name: "out",
                help: "The archive to make, or '-' for standard output; with '--to android' the "
                    + "stream, such as '_full/<package>'.",
                valueName: "file",
                isRequired: true,
                completion: .file
            ),
            OptionDescription(
                name: "to",
                help:
                    "For which platform: 'ios', the default, or 'android', which takes an archive.",
                valueName: "platform",
                completion: .words(Target.allCases.map(\.rawValue))
            ),
            .package, .passwordFile, .appIdentity,
            OptionDescription(
                name: "layout",
                help:
                    "How entries are named: 'ios', as an app on iOS receives them, the default, or "
                    + "'android', as in the backup.",
                valueName: "layout",
                completion: .words(BackupConversion.Layout.allCases.map(\.rawValue))
            ),
            OptionDescription(
                name: "rules",
                help: "The app's backup rules: take only what they hand over to iOS.",
                valueName: "file",
                completion: .file
            ),
            .androidManifest,
            OptionDescription(
                name: "resources-version",
                help: "The version of the data's format, where the backup does not say it.",
                valueName: "v"
            ),
            .externalStorage, .deviceStorage,
            .force(replacing: "a file"),
            .level(byDefault: BackupConversion.Options().compressionLevel),
            .threads, .json,
        ]
    )

    let backup: AndroidBackup
    let output: ArchiveName
    let target: Target
    let options: BackupConversion.Options
    let rules: [UInt8]?
    let manifest: [UInt8]?
    let replacesExisting: Bool
    let answersInJSON: Bool

    var subject: String { backup.name.sourceText }

    func subject(of error: any Error) -> String {
        guard error.isOfOutput else { return subject }
        return output.isStandardStream ? "standard output" : PrintableText.escaping(output.bytes)
    }

    init(_ arguments: ParsedArguments) throws(UsageError) {
        backup = try AndroidBackup(arguments)
        output = ArchiveName(try arguments.path("out"))
        target = try arguments.choice("to", of: Target.self) ?? .ios
        var options = BackupConversion.Options()
        options.package = try arguments.text("package")
        options.layout =
            try arguments.choice("layout", of: BackupConversion.Layout.self) ?? .ios
        options.app = try arguments.appIdentity
        options.contentVersion = try arguments.text("resources-version")
        options.compressionLevel = try arguments.level ?? options.compressionLevel
        options.threadCount = try arguments.threads
        self.options = options
        rules = try arguments.optionalPath("rules")
        manifest = try arguments.optionalPath("manifest")
        replacesExisting = arguments.has("force")
        answersInJSON = arguments.has("json")
        if target == .android {
            for name in [
                "layout", "rules", "manifest", "password-file", "external", "device", "level",
                "threads",
            ]
            where arguments.isGiven(name) {
                throw UsageError("option '--\(name)' can't be given with '--to android'")
            }
            guard options.package != nil, options.app != nil else {
                throw UsageError(
                    "'--to android' needs '--package', the app on Android, and '--app-id', the app "
                        + "on iOS"
                )
            }
        }
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let destination = try output.destination(
            replacingExisting: replacesExisting,
            console: console
        )
        let report: ConversionReport
        switch target {
        case .ios: report = try await convertBackup(to: destination, on: console)
        case .android: report = try await convertArchive(to: destination, on: console)
        }
        let answer = ConversionAnswer(output, report)
        // The archive has standard output to itself.
        let stream = output.isStandardStream ? console.errors : console.output
        try stream.write(answer, inJSON: answersInJSON)
        return report.lost.count == 0 ? .success : .failure
    }

    private func convertBackup(
        to destination: ArchiveDestination,
        on console: Console
    ) async throws -> ConversionReport {
        var options = options
        options.rules = try rules.map { try RulesFile(InputFile.read($0)) }
        options.manifest = try manifest.map { try AppManifest(InputFile.read($0)) }
        return try await BackupOperations.convert(
            backup.place(on: console),
            options: options,
            to: destination,
            spoolingTo: spoolDirectory
        )
    }

    private func convertArchive(
        to destination: ArchiveDestination,
        on console: Console
    ) async throws -> ConversionReport {
        guard let package = options.package, let app = options.app else {
            throw UsageError("'--to android' needs '--package' and '--app-id'")
        }
        var streamOptions = StreamConversion.Options(package: package, app: app)
        streamOptions.contentVersion = options.contentVersion
        return try await BackupOperations.convert(
            backup.name.source(console: console),
            options: streamOptions,
            to: destination,
            spoolingTo: spoolDirectory
        )
    }

    /// What must be unpacked lies where the result goes: there is room for both, or for neither.
    private var spoolDirectory: [UInt8] {
        guard !output.isStandardStream, let slash = output.bytes.lastIndex(of: UInt8(ascii: "/"))
        else { return output.isStandardStream ? TemporaryDirectory.path : [UInt8(ascii: ".")] }
        return slash == 0 ? [UInt8(ascii: "/")] : [UInt8](output.bytes[..<slash])
    }
}
