internal import IPhoneBackups
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate ios convert`: takes an app's container out of a backup of an iPhone.
struct IOSConvertCommand: Command {
    private var backup: BytePath = ""
    private var access = IPhoneBackupFlags()
    private var allowsUnfinished = false
    private var app = ""
    private var group: String?
    private var plugin: String?
    private var output: ArchiveName?
    private var container: BytePath?
    private var options = ContainerConversion.Options()
    private var importing = ImportOptions()
    private var isDryRun = false
    var common = CommonOptions()

    static let name = "ios convert"
    static let abstract =
        "Take an app's container out of a backup of an iPhone or iPad."

    static var arguments: [Argument<Self>] { [.iPhoneBackup(to: \.backup)] }

    private static let out = Flag<Self>(
        "out",
        short: "o",
        value: "file",
        as: .archive,
        to: \.output
    )
    .help("The archive to write, or '-' for standard output.")
    .about(.archive)
    private static let container = Flag<Self>(
        "container",
        short: "c",
        value: "dir",
        as: .directory,
        to: \.container
    )
    .help("A container to import into, which must hold no data yet, in place of an archive.")
    .about(.container)
    .excluding(out)
    private static let group = Flag<Self>("app-group", value: "id", as: .text, to: \.group)
        .help("Take the container of an app group, which the app shares with others.")
        .about(.container)

    static var flags: [Flag<Self>] {
        Flag("app", value: "id", as: .text, to: \.app)
            .help("The bundle identifier of the app, as 'migrate ios apps' lists it.")
            .about(.container)
            .required
        out
        container
        group
        Flag("plugin", value: "id", as: .text, to: \.plugin)
            .help("Take the container of one of the app's extensions.")
            .about(.container)
            .excluding(group)
        Flag.externalLinks(to: \.importing.externalLinks).needing(container)
        IPhoneBackupFlags.included(at: \.access)
        Flag("resources-version", value: "v", as: .text, to: \.options.resourcesVersion)
            .help("The version of the data's format, in place of the app's version.")
            .about(.container)
        Flag("keep-going", short: "k", sets: \.options.keepsGoing)
            .help("Archive the rest if files of the backup are missing or damaged.")
            .excluding(container)
            .about(.archive)
        Flag.allowUnfinished(sets: \.allowsUnfinished)
        Flag.dryRun(
            "Look at every file, say what would be archived and what is missing, and write nothing.",
            sets: \.isDryRun
        )
        Flag.force(replacing: "a file")
        Flag.level(
            byDefault: ContainerConversion.Options().compressionLevel,
            to: \.options.compressionLevel
        )
        Flag.threads(to: \.options.threadCount)
        Flag.json
    }

    static let examples: Examples = [
        "Take an app's data out of a backup, into an archive.":
            "migrate ios convert backup --app com.example.notes --out notes.tar.zst",
        "Put it straight into a new container.":
            "migrate ios convert backup --app com.example.notes --container notes",
        "Take the data that the app shares with its extensions.":
            "migrate ios convert backup --app org.notes --app-group group.notes -o g.zst",
    ]

    func check() throws(UsageError) {
        guard output != nil || container != nil || isDryRun else {
            throw UsageError("'--out' or '--container' is missing, which say where the data goes")
        }
    }

    var subject: String { PrintableText.escaping(backup) }

    var outputSubject: String {
        output?.destinationText ?? container.map { PrintableText.escaping($0) } ?? subject
    }

    private var domain: Domain {
        if let group { return Domain(.group, group) }
        return plugin.map { Domain(.plugin, $0) } ?? Domain(.app, app)
    }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let (report, imported) = try await convert(on: console)
        for warning in report.warnings { console.log("migrate: warning: \(warning)") }
        let answer = IOSConvertAnswer(
            report,
            to: output,
            into: container,
            isDryRun: isDryRun,
            imported,
            .ofFlags
        )
        // With '--out -', standard output holds only the archive.
        let stream = output?.isStandardStream == true ? console.errors : console.output
        try stream.write(answer, inJSON: common.answersInJSON)
        guard report.lost.count > 0 else { return .success }
        return options.keepsGoing ? .failure : .badArchive
    }

    private func convert(on console: Console) async throws -> (ContainerReport, ImportReport?) {
        var reading = access.options(on: console)
        reading.allowsUnfinished = allowsUnfinished
        if let container, !isDryRun {
            return try await IPhoneBackupOperations.restore(
                domain,
                in: backup,
                reading: reading,
                options: options,
                into: MigrationDataContainer(atPath: container, bundleIdentifier: nil),
                importing: importing,
                by: MigrationHost()
            )
        }
        let destination =
            try isDryRun
            ? nil : output?.destination(replacesExisting: common.replacesExisting, on: console)
        let report = try await IPhoneBackupOperations.convert(
            domain,
            in: backup,
            reading: reading,
            options: options,
            to: destination
        )
        return (report, nil)
    }
}
