internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags that say how to read an Android backup.
struct BackupFlags: FlagGroup {
    private var external: BytePath?
    private var device: BytePath?
    private var passwordFile: BytePath?
    private var sizePolicy = SizePolicy.refuse

    static let topic: FlagTopic? = .container

    static let external = Flag<Self>("external", value: "dir", as: .directory, to: \.external)
        .help("The app's files on shared storage, instead of '_external' in its directory.")

    static let device = Flag<Self>("device", value: "dir", as: .directory, to: \.device)
        .help("The app's device-protected storage, instead of '_device' in its directory.")

    static let passwordFile = Flag<Self>(
        "password-file",
        value: "file",
        as: .path,
        to: \.passwordFile
    )
    .help("A file whose first line is the password of an encrypted backup.")
    .about(.encryption)

    private static let trust = Flag<Self>("trust-sizes", sets: \.sizePolicy, to: .trust)
        .help("Trust the size in each entry's header, whatever is inside the entry.")

    /// The flags that say how to read an entry that contains other entries' headers.
    @FlagList<Self> static var sizeFlags: [Flag<Self>] {
        trust
        Flag("salvage", sets: \.sizePolicy, to: .salvage)
            .help("Take the entries inside one that may be too short, and name each.")
            .excluding(trust)
    }

    static var flags: [Flag<Self>] {
        external
        device
        passwordFile
        sizeFlags
    }

    /// The backup called `name`, after reading its password.
    func place(of name: ArchiveName, on console: Console) throws -> BackupLocation {
        // This throws if standard input can't be read.
        _ = try name.source(on: console)
        var place = BackupLocation(
            name.isStandardStream
                ? .descriptor(StandardStream.input.rawValue) : .path(name.path)
        )
        place.external = external
        place.device = device
        place.sizePolicy = sizePolicy
        place.password = try passwordFile.map { file in
            let content = try InputFile.read(file, of: "--password-file", limit: 64 << 10)
            let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return [UInt8](line)
        }
        return place
    }
}

/// The flags that name the data to which backup rules apply.
struct AndroidDataFlags: FlagGroup {
    private var data: ArchiveName?
    private var backup = BackupFlags()
    private var package: String?

    static let topic: FlagTopic? = .container

    static let data = Flag<Self>("data", value: "path", as: .archive, to: \.data)
        .help("The app's data: a copy of /data/data/<package>, or a backup.")

    static var flags: [Flag<Self>] {
        data
        flagsOfData
    }

    /// The flags that say how to read the data.
    @FlagList<Self> static var flagsOfData: [Flag<Self>] {
        BackupFlags.external.included(at: \.backup).needing(data)
        BackupFlags.device.included(at: \.backup).needing(data)
        Flag.package(to: \.package).needing(data)
        BackupFlags.passwordFile.included(at: \.backup).needing(data)
        BackupFlags.sizeFlags.map { $0.included(at: \.backup).needing(data) }
    }

    /// Reads the data; `nil` if none is given.
    func tree(on console: Console) async throws -> DataTree? {
        guard let data else { return nil }
        return try await BackupOperations.tree(
            backup.place(of: data, on: console),
            package: package,
            spoolingTo: Environment.temporaryDirectory
        )
    }
}

extension Flag {
    static func androidManifest(to path: Property<Owner, BytePath?>) -> Flag {
        Flag("manifest", value: "file", as: .path, to: path)
            .help("The app's AndroidManifest.xml, which says whether it allows backups.")
            .about(.container)
    }

    static func package(to path: Property<Owner, String?>) -> Flag {
        Flag("package", value: "name", as: .text, to: path)
            .help("The app's package name, if the backup holds several or does not name it.")
            .about(.container)
    }

    static func appIdentity(to path: Property<Owner, AppIdentity?>) -> Flag {
        Flag("app-id", value: "id", as: .appIdentity, to: path)
            .help("The app on iOS, as 'TEAM.bundle': fail if the data is not meant for it.")
            .about(.container)
    }
}

extension Argument {
    static func rules(to path: Property<Owner, BytePath>) -> Argument {
        Argument("rules", as: .path, to: path)
            .help("The rules file: data-extraction-rules or full-backup-content.")
    }
}

extension ValueReader where Value == AppIdentity {
    /// An app on iOS, as `TEAM.bundle`.
    static var appIdentity: Self {
        ValueReader<String>.text.compactMap(or: "is not of the form TEAM.bundle") {
            AppIdentity($0)
        }
    }
}
