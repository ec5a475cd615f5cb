internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// The flags that several commands declare in the same way, each with the property that it sets.
extension Flag {
    static func container(
        help: String = "The container: a directory or an .xcappdata bundle.",
        to path: Property<Owner, BytePath>
    ) -> Flag {
        Flag("container", short: "c", value: "dir", as: .directory, to: path)
            .help(help)
            .required
            .about(.container)
    }

    static func bundleIdentifier(to path: Property<Owner, String?>) -> Flag {
        Flag("bundle-id", value: "id", as: .text, to: path)
            .help("The app's bundle identifier, if the container does not name it.")
            .about(.container)
    }

    static func claimedIdentifier(
        help: String,
        to path: Property<Owner, String?>
    ) -> Flag {
        Flag("as", value: "id", as: .text, to: path).help(help).about(.container)
    }

    static func notAContainer(sets path: Property<Owner, Bool>) -> Flag {
        Flag("not-a-container", sets: path)
            .help("Use the directory itself, even if it holds several containers.")
            .about(.container)
    }

    static func activity(to path: Property<Owner, BytePath?>) -> Flag {
        Flag("activity", value: "plist", as: .path, to: path)
            .help(
                "What the person was doing, for the app to continue: a property list with "
                    + "activityType, title and userInfo."
            )
            .about(.container)
    }

    static func includeCaches(sets path: Property<Owner, Bool>) -> Flag {
        Flag("include-caches", sets: path).help("Include Library/Caches.").about(.container)
    }

    static func externalLinks(
        to path: Property<Owner, ExternalLinkPolicy>
    ) -> Flag {
        Flag("external-links", value: "policy", as: .choice, to: path)
            .help(
                "Symbolic links that lead out: 'refuse' the archive (the default), 'keep' them or "
                    + "'skip' them."
            )
            .about(.archive)
    }

    static func level(
        byDefault level: Int,
        to path: Property<Owner, Int>
    ) -> Flag {
        Flag("level", value: "n", as: .number(in: 1...19), to: path)
            .help("The zstd compression level, from 1 to 19; \(level) by default.")
            .about(.archive)
    }

    static func threads(to path: Property<Owner, Int?>) -> Flag {
        Flag("threads", value: "n", as: .number(in: 1...64), to: path)
            .help("Use this many threads, from 1 to 64; by default one per processor.")
            .about(.running)
    }

    static func expect(to path: Property<Owner, Fingerprint?>) -> Flag {
        Flag("expect", value: "fingerprint", as: .fingerprint, to: path)
            .help("Refuse an archive with any other fingerprint.")
            .about(.archive)
    }

    static func sourcePlatform(to path: Property<Owner, MigrationPlatform?>) -> Flag {
        Flag("source-platform", value: "p", as: .platform, to: path)
            .help(
                "The platform that the data comes from, such as 'iOS'; by default the one that the "
                    + "container shows."
            )
            .about(.container)
    }

    static func destinationPlatform(to path: Property<Owner, MigrationPlatform>) -> Flag {
        Flag("destination-platform", value: "p", as: .platform, to: path)
            .help("The platform that the data goes to, for the extension; 'android' by default.")
            .about(.extension)
    }

    static func resourcesVersion(to path: Property<Owner, String>) -> Flag {
        Flag("resources-version", value: "v", as: .text, to: path)
            .help("The version of the data's format, for the importing app; 1.0 by default.")
            .about(.container)
    }

    static func dryRun(_ help: String, sets path: Property<Owner, Bool>) -> Flag {
        Flag("dry-run", short: "n", sets: path).help(help).about(.running)
    }
}

/// The flags that say how a command runs and answers.
extension Flag where Owner: CommandOfOptions {
    static func force(replacing kind: String) -> Flag {
        Flag("force", short: "f", sets: \.common.replacesExisting)
            .help("Replace \(kind) of that name.").about(.archive)
    }

    static var wait: Flag {
        Flag("wait", value: "s", as: .seconds, to: \.common.waitLimit)
            .help(
                "If the container is in use, wait up to this many seconds; by default fail at "
                    + "once."
            )
            .about(.running)
    }

    static var result: Flag {
        Flag("result", value: "file", as: .outputPath, to: \.common.resultFile)
            .help(
                "Append one line of JSON about this run to a file, which others may write at the "
                    + "same time; 'migrate report --results' sums them up."
            )
            .about(.running)
    }

    static var json: Flag {
        Flag("json", sets: \.common.answersInJSON).help("Answer with one JSON document.")
            .about(.running)
    }

    static var verbose: Flag {
        Flag("verbose", short: "v", sets: \.common.isVerbose)
            .help("Print more, such as the limits of the extension's confinement.")
            .about(.running)
    }

    /// `--verbose` of a command that moves files.
    static var verboseNamingFiles: Flag {
        verbose.help(
            "Name each file on standard error as it goes, and print more, such as the limits of "
                + "the extension's confinement."
        )
    }

    static var quiet: Flag {
        Flag("quiet", short: "q", sets: \.common.isQuiet)
            .help("Print nothing but warnings and errors.")
            .excluding(json)
            .about(.running)
    }

    static var progress: Flag {
        Flag("progress", value: "mode", as: .choice, to: \.common.progress)
            .help(
                "Show progress on standard error: 'bar', 'plain' (one line per second), 'none', or "
                    + "'auto', the default: a bar on a terminal."
            )
            .about(.running)
    }
}

extension ValueReader where Value == Fingerprint {
    /// A fingerprint in hexadecimal digits.
    fileprivate static var fingerprint: Self {
        ValueReader<String>.text.compactMap(or: "is not a fingerprint of 64 hexadecimal digits") {
            Fingerprint($0)
        }
    }
}

extension ValueReader where Value == MigrationPlatform {
    static var platform: Self { ValueReader<String>.text.map { MigrationPlatform(named: $0) } }
}
