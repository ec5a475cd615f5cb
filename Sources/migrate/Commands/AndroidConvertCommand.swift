internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate android convert`: converts an Android backup to an archive, or an archive to a backup.
struct AndroidConvertCommand: Command {
    private enum Target: String, CaseIterable, Sendable {
        case ios, android
    }

    private var input = ArchiveName()
    private var backup = BackupFlags()
    private var output = ArchiveName()
    private var target = Target.ios
    private var options = BackupConversion.Options()
    private var rules: BytePath?
    private var manifest: BytePath?
    var common = CommonOptions()

    static let name = "android convert"
    static let abstract =
        "Convert an Android app's backup to an archive for iOS, or an archive to a backup."

    static var arguments: [Argument<Self>] {
        [
            Argument("backup", as: .archive, to: \.input)
                .help(
                    "An .ab file, a LocalTransport stream, a copy of the app's directory, a tar "
                        + "file, or '-' for standard input."
                )
        ]
    }

    private static let passwordFile = BackupFlags.passwordFile.included(at: \Self.backup)
    private static let layout = Flag<Self>(
        "layout",
        value: "layout",
        as: .choice,
        to: \.options.layout
    )
    .help(
        "The names of entries: 'ios', as an app on iOS receives them, the default, or "
            + "'android', as in the backup."
    )
    .about(.archive)
    private static let rules = Flag<Self>("rules", value: "file", as: .path, to: \.rules)
        .help("The app's backup rules: include only the data that they hand over to iOS.")
        .about(.container)
    private static let manifest = Flag<Self>.androidManifest(to: \.manifest)
    private static let external = BackupFlags.external.included(at: \Self.backup)
    private static let device = BackupFlags.device.included(at: \Self.backup)
    private static let sizes = BackupFlags.sizeFlags.map { $0.included(at: \Self.backup) }
    private static let level = Flag<Self>.level(
        byDefault: BackupConversion.Options().compressionLevel,
        to: \.options.compressionLevel
    )
    .help(
        "The zstd compression level, from 1 to 19; 1 by default, because such an archive is usually "
            + "read once."
    )
    private static let threads = Flag<Self>.threads(to: \.options.threadCount)

    static var flags: [Flag<Self>] {
        Flag("out", short: "o", value: "file", as: .archive, to: \.output)
            .help(
                "The archive to write, or '-' for standard output; with '--to android' the stream, "
                    + "such as '_full/<package>'."
            )
            .about(.archive)
            .required
        Flag("to", value: "platform", as: .choice, to: \.target)
            .help("The platform: 'ios', the default, or 'android', which reads an archive.")
            .about(.archive)
        Flag.package(to: \.options.package)
        passwordFile
        Flag.appIdentity(to: \.options.app)
        layout
        rules
        manifest
        Flag("resources-version", value: "v", as: .text, to: \.options.contentVersion)
            .help("The version of the data's format, if the backup does not name it.")
            .about(.container)
        external
        device
        sizes
        Flag.force(replacing: "a file")
        level
        threads
        Flag.json
    }

    static let examples: Examples = [
        "Convert a backup to an archive that an app on iOS can import.":
            "migrate android convert notes.ab --out notes.tar.zst",
        "Include only the data that the app's rules hand over.":
            "migrate android convert notes.ab --out notes.tar.zst --rules rules.xml",
        "Look at what would be in the archive.":
            "migrate android convert notes.ab --out - | migrate list -",
    ]

    /// The flags that `--to android` excludes.
    private static var flagsForIOS: [Flag<Self>] {
        [layout, rules, manifest, passwordFile, external, device, level, threads] + sizes
    }

    func check() throws(UsageError) {
        guard target == .android else { return }
        for flag in Self.flagsForIOS where common.given.contains(flag) {
            let name = flag.description.name
            throw UsageError("option '--\(name)' can't be given with '--to android'")
        }
        guard options.package != nil, options.app != nil else {
            throw UsageError(
                "'--to android' needs '--package', the app on Android, and '--app-id', the app "
                    + "on iOS"
            )
        }
    }

    var subject: String { input.sourceText }

    var outputSubject: String { output.destinationText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let destination = try output.destination(
            replacesExisting: common.replacesExisting,
            on: console
        )
        let report: ConversionReport
        switch target {
        case .ios: report = try await convertBackup(to: destination, on: console)
        case .android: report = try await convertArchive(to: destination, on: console)
        }
        let answer = ConversionAnswer(output, report: report, .ofFlags)
        // With '--out -', standard output holds only the archive.
        let stream = output.isStandardStream ? console.errors : console.output
        try common.conclude(with: answer, on: console, stream)
        return report.lost.count == 0 ? .success : .failure
    }

    private func convertBackup(
        to destination: ArchiveDestination,
        on console: Console
    ) async throws -> ConversionReport {
        var options = options
        options.rules = try rules.map { try RulesFile.read($0, of: "--rules") }
        options.manifest = try manifest.map { try AppManifest.read($0) }
        return try await BackupOperations.convert(
            backup.place(of: input, on: console),
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
            input.source(on: console),
            options: streamOptions,
            to: destination,
            spoolingTo: spoolDirectory
        )
    }

    /// Unpacked files go beside the result, which needs about the same space.
    private var spoolDirectory: BytePath {
        output.isStandardStream ? Environment.temporaryDirectory : output.path.parent
    }
}
