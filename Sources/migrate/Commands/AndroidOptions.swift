import AndroidMigration
import Foundation
import MigrationArchive
import MigrationCore

extension ArgumentDescription {
    static let rules = ArgumentDescription(
        name: "rules",
        help: "The file of rules: data-extraction-rules or full-backup-content.",
        completion: .file
    )

    static let backup = ArgumentDescription(
        name: "backup",
        help:
            "An .ab file, a stream of LocalTransport, a copy of the app's directory, a tar file, or "
            + "'-' for standard input.",
        completion: .file
    )
}

extension OptionDescription {
    static let androidManifest = OptionDescription(
        name: "manifest",
        help: "The app's AndroidManifest.xml, which says whether it allows backups.",
        valueName: "file",
        completion: .file
    )

    static let androidData = OptionDescription(
        name: "data",
        help: "The app's data: a copy of /data/data/<package>, or a backup.",
        valueName: "path",
        completion: .file
    )

    static let externalStorage = OptionDescription(
        name: "external",
        help: "The app's files on the shared storage, in place of '_external' in its directory.",
        valueName: "dir",
        completion: .directory
    )

    static let deviceStorage = OptionDescription(
        name: "device",
        help: "The app's device-protected storage, in place of '_device' in its directory.",
        valueName: "dir",
        completion: .directory
    )

    static let package = OptionDescription(
        name: "package",
        help: "The app's package name, where the backup holds several or does not say it.",
        valueName: "name"
    )

    static let passwordFile = OptionDescription(
        name: "password-file",
        help: "A file whose first line is the password of an encrypted backup.",
        valueName: "file",
        completion: .file
    )

    static let appIdentity = OptionDescription(
        name: "app-id",
        help: "The app on iOS, as in 'TEAM.bundle': fail where the data is not meant for it.",
        valueName: "id"
    )

    /// The same option, for a command that can't do without it.
    var required: OptionDescription {
        var option = self
        option.isRequired = true
        return option
    }
}

extension ParsedArguments {
    /// The path that the option `name` gives, if it was given.
    func optionalPath(_ name: String) throws(UsageError) -> [UInt8]? {
        isGiven(name) ? try path(name) : nil
    }

    /// The value of `--app-id`.
    var appIdentity: AppIdentity? {
        get throws(UsageError) {
            guard let text = try text("app-id") else { return nil }
            guard let app = AppIdentity(text) else {
                throw UsageError(
                    "the value '\(text)' of option '--app-id' is not of the form TEAM.bundle"
                )
            }
            return app
        }
    }
}

/// A backup as the command line names it, with what is needed to read it.
struct AndroidBackup: Sendable {
    let name: ArchiveName
    private let external: [UInt8]?
    private let device: [UInt8]?
    private let passwordFile: [UInt8]?

    /// The backup that the first argument names.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        try self.init(ArchiveName(try arguments.path(at: 0, "backup")), arguments)
    }

    init(_ name: ArchiveName, _ arguments: ParsedArguments) throws(UsageError) {
        self.name = name
        external = try arguments.optionalPath("external")
        device = try arguments.optionalPath("device")
        passwordFile = try arguments.optionalPath("password-file")
    }

    /// Where it lies, with its password read.
    func place(on console: Console) throws -> BackupPlace {
        // What can't be read from standard input is said here.
        _ = try name.source(console: console)
        var place = BackupPlace(
            name.isStandardStream
                ? .descriptor(StandardStream.input.rawValue) : .path(name.bytes)
        )
        place.external = external
        place.device = device
        place.password = try passwordFile.map { file in
            let content = try InputFile.read(file, limit: 64 * 1024)
            let line = content.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return [UInt8](line)
        }
        return place
    }
}

/// The data that `--data` and its companions name.
struct AndroidData: Sendable {
    private let backup: AndroidBackup
    private let package: String?

    /// Makes it of the options; `nil` where `--data` is not given.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let path = try arguments.optionalPath("data") else { return nil }
        backup = try AndroidBackup(ArchiveName(path), arguments)
        package = try arguments.text("package")
    }

    static let options: [OptionDescription] = [
        .externalStorage.with("data"), .deviceStorage.with("data"), .package.with("data"),
        .passwordFile.with("data"),
    ]

    /// Reads what lies where.
    func tree(_ context: CommandContext) async throws -> DataTree {
        try await BackupOperations.tree(
            backup.place(on: context.console),
            package: package,
            spoolingTo: TemporaryDirectory.path
        )
    }
}

/// Where files go for a moment.
enum TemporaryDirectory {
    static var path: [UInt8] {
        [UInt8](FileManager.default.temporaryDirectory.path.utf8)
    }
}
