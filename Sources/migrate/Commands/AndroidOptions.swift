import AndroidMigration
import MigrationArchive

extension ArgumentDescription {
    static let rules = ArgumentDescription(
        name: "rules",
        help: "The file of rules: data-extraction-rules or full-backup-content.",
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
        help: "The app's data: a copy of /data/data/<package>.",
        valueName: "dir",
        completion: .file
    )

    static let externalData = OptionDescription(
        name: "external",
        help: "The app's files on the shared storage, in place of '_external' in the data.",
        valueName: "dir",
        completion: .directory,
        companion: "data"
    )

    static let deviceData = OptionDescription(
        name: "device",
        help: "The app's device-protected storage, in place of '_device' in the data.",
        valueName: "dir",
        completion: .directory,
        companion: "data"
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
}

/// The data that `--data` and its companions name.
struct AndroidData: Sendable {
    let directory: [UInt8]
    let external: [UInt8]?
    let device: [UInt8]?

    /// Makes it of the options; `nil` where `--data` is not given.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let directory = try arguments.optionalPath("data") else { return nil }
        self.directory = directory
        external = try arguments.optionalPath("external")
        device = try arguments.optionalPath("device")
    }

    /// Reads what lies where.
    func tree(_ context: CommandContext) async throws -> DataTree {
        try DataTree(RawTree(directory, external: external, device: device))
    }
}
