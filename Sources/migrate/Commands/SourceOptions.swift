import MigrationCore

/// What the command line says of the app that exported, where the archive does not.
enum SourceOptions {
    static let descriptions = [
        OptionDescription(
            name: "source-app",
            help: "The app that the data comes from; by default what the archive says.",
            valueName: "id",
            companion: "extension"
        ),
        OptionDescription(
            name: "source-platform",
            help: "The platform that the data comes from; by default what the archive says.",
            valueName: "p",
            companion: "extension"
        ),
        OptionDescription(
            name: "source-store",
            help: "The store that the app comes from; by default that of its platform.",
            valueName: "s",
            companion: "extension"
        ),
        OptionDescription(
            name: "source-version",
            help: "The version of the data's format; by default what the archive says.",
            valueName: "v",
            companion: "extension"
        ),
    ]

    static let hint = "give '--source-app', '--source-platform' and '--source-version'"

    static func read(_ arguments: ParsedArguments) throws(UsageError) -> ImportSource {
        var source = ImportSource()
        source.bundleIdentifier = try arguments.text("source-app")
        source.platform = try arguments.text("source-platform").map { MigrationPlatform($0) }
        source.store = try arguments.text("source-store").map { .init($0) }
        source.version = try arguments.text("source-version")
        return source
    }
}
