internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags that choose which of a container's data an archive holds, and how it describes the
/// data.
struct ContentFlags: FlagGroup {
    private(set) var appExtension = ExtensionFlags()
    private(set) var bundleIdentifier: String?
    private(set) var exportOptions = ExportOptions()
    private var activity: BytePath?
    private var exclusions = ExclusionFlags()
    private var metadata = MetadataFlags()

    static var flags: [Flag<Self>] {
        ofWholeContainers.map { $0.excluding(ExtensionFlags.executable) }
        Flag.bundleIdentifier(to: \.bundleIdentifier)
        Flag.claimedIdentifier(
            help: "Name this app in the archive, in place of the container's own.",
            to: \.exportOptions.bundleIdentifier
        )
        Flag.notAContainer(sets: \.exportOptions.takesAnyDirectory)
        Flag.sourcePlatform(to: \.exportOptions.platform)
        MetadataFlags.included(at: \.metadata)
        ExtensionFlags.executable
            .help(
                "The app's own extension, which chooses the data; without it, everything is taken."
            )
            .included(at: \.appExtension)
        DestinationOptions.flag(to: \.exportOptions.destinationOptions)
            .needing(ExtensionFlags.executable)
        ExtensionFlags.terms.map { $0.included(at: \.appExtension) }
        Flag.destinationPlatform(to: \.exportOptions.destinationPlatform)
            .needing(ExtensionFlags.executable)
        Flag.activity(to: \.activity)
    }

    static let threads = Flag<Self>.threads(to: \.exportOptions.threadCount)

    /// Options that an app's extension decides itself.
    @FlagList<Self> private static var ofWholeContainers: [Flag<Self>] {
        ExclusionFlags.included(at: \.exclusions)
        Flag.includeCaches(sets: \.exportOptions.includesCaches)
        Flag.resourcesVersion(to: \.exportOptions.resourcesVersion)
    }

    /// The flags that also apply to a command that writes the archive.
    @FlagList<Self> static var flagsOfWriting: [Flag<Self>] {
        flags
        Flag.level(byDefault: 3, to: \.exportOptions.compressionLevel)
        Flag("no-compress", sets: \.exportOptions.isCompressible, to: false)
            .help("Store the content uncompressed.")
            .about(.archive)
            .excluding(ExtensionFlags.executable)
        Flag("strict", sets: \.exportOptions.isStrict)
            .help(
                "Fail if something would be left out: a special file, or, unless '--acls' and '--xattrs' "
                    + "ask for them, an access control list or an attribute outside 'user.'."
            )
            .about(.container)
        Flag("expect-complete", sets: \.exportOptions.expectsComplete)
            .help("Fail if the extension leaves files behind outside of Library/Caches and tmp.")
            .about(.extension)
            .needing(ExtensionFlags.executable)
    }

    /// Checks that the flags are compatible.
    mutating func check() throws(UsageError) {
        exportOptions.extraMetadata = metadata.extraMetadata
        try appExtension.check()
    }

    /// The container at `path`.
    func source(_ path: BytePath) throws -> MigrationDataContainer {
        try MigrationDataContainer(atPath: path, naming: bundleIdentifier)
    }

    /// The options from the flags; reads the files that they name.
    func options() throws -> ExportOptions {
        var options = exportOptions
        options.exclusions = try exclusions.patterns()
        options.activity = try activity.map {
            try ResumeActivity(list: InputFile.read($0, of: "--activity"))
        }
        return options
    }

    /// Exports `source`, or does what `purpose` says without an archive.
    func export(
        _ source: MigrationDataContainer,
        _ options: ExportOptions,
        for purpose: ExportPurpose,
        _ record: OperationRecord?,
        _ common: CommonOptions,
        on console: Console
    ) async throws -> ExportReport {
        try await common.showingProgress(on: console) { bar in
            try await common.host(on: console).run(
                source,
                for: purpose,
                by: appExtension.hosted(on: console, for: .export, common, record),
                options: options,
                progress: bar
            )
        }
    }
}
