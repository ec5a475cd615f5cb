import MigrationCore

extension OptionDescription {
    static let help = OptionDescription(name: "help", help: "Show this help.")

    static let json = OptionDescription(name: "json", help: "Answer with one JSON document.")

    static let includeCaches = OptionDescription(
        name: "include-caches",
        help: "Take Library/Caches too."
    )

    /// The same option, for a command that can't take it together with `rival`.
    func without(_ rival: String) -> OptionDescription {
        var option = self
        option.rival = rival
        return option
    }

    /// The same option, for a command in which it means nothing without `companion`.
    func with(_ companion: String) -> OptionDescription {
        var option = self
        option.companion = companion
        return option
    }

    static let threads = OptionDescription(
        name: "threads",
        help: "Use this many threads, from 1 to 64; by default one a core, at most three.",
        valueName: "n"
    )

    static func force(replacing kind: String) -> OptionDescription {
        OptionDescription(name: "force", help: "Replace \(kind) of that name.")
    }

    static func level(byDefault level: Int) -> OptionDescription {
        OptionDescription(
            name: "level",
            help: "The zstd compression level, from 1 to 19; \(level) by default.",
            valueName: "n"
        )
    }

    static let progress = OptionDescription(
        name: "progress",
        help: "Show progress on standard error: 'bar', 'plain' (a line a second), 'none', or "
            + "'auto', the default: a bar on a terminal.",
        valueName: "mode",
        completion: .words(ProgressMode.allCases.map(\.rawValue))
    )

    static let externalLinks = OptionDescription(
        name: "external-links",
        help:
            "What becomes of symbolic links that lead out: 'refuse', the default, 'keep' or 'skip'.",
        valueName: "policy",
        completion: .words(ExternalLinkPolicy.allCases.map(\.rawValue))
    )

    static let wait = OptionDescription(
        name: "wait",
        help: "Wait so many seconds for a container that is in use; by default not at all.",
        valueName: "s"
    )

    static func container(_ help: String) -> OptionDescription {
        OptionDescription(
            name: "container",
            help: help,
            valueName: "dir",
            isRequired: true,
            completion: .directory
        )
    }

    static func bundleIdentifier(_ help: String) -> OptionDescription {
        OptionDescription(name: "bundle-id", help: help, valueName: "id")
    }
}

extension ArgumentDescription {
    static let archive = ArgumentDescription(
        name: "archive",
        help: "The archive, or '-' for standard input.",
        completion: .file
    )
}

extension ParsedArguments {
    /// The archive that the first argument names.
    var archive: ArchiveName {
        get throws(UsageError) {
            ArchiveName(try path(at: 0, "archive"), keys: try DecryptionOptions(self))
        }
    }

    /// The value of `--threads`.
    var threads: Int? {
        get throws(UsageError) { try number("threads", in: 1...64) }
    }

    /// The value of `--level`.
    var level: Int? {
        get throws(UsageError) { try number("level", in: 1...19) }
    }

    /// The value of `--wait`.
    var waitLimit: Duration {
        get throws(UsageError) { try duration("wait") ?? .zero }
    }

    /// The value of `--progress`.
    var progress: ProgressMode {
        get throws(UsageError) { try choice("progress", of: ProgressMode.self) ?? .auto }
    }

    /// The value of `--external-links`.
    var externalLinks: ExternalLinkPolicy {
        get throws(UsageError) {
            try choice("external-links", of: ExternalLinkPolicy.self) ?? .refuse
        }
    }
}
