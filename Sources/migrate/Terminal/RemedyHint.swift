internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem
internal import StoreMigration

/// The table of hints: the flags and commands by which a person does what helps against an error.
extension ErrorMessage.Hint {
    /// Makes the hint of what helps against `error` or its cause; `nil` if nothing is known to help.
    init?(for error: any Error) {
        if let error = error as? StoreMigrationError {
            let hints = error.remedies.compactMap { Self($0) }
            guard let first = hints.first else { return nil }
            let advice = hints.map(\.advice).joined(separator: "; ")
            self.init(flag: first.flag, advice: advice)
            return
        }
        let (remedy, cause): (Remedy?, (any Error)?) =
            switch error {
            case let error as MigrationError: (error.remedy, error.cause)
            case let error as ArchiveError: (error.remedy, nil)
            case let error as AndroidMigrationError: (error.remedy, nil)
            default: (nil, nil)
            }
        if let remedy {
            self.init(remedy)
        } else if let cause {
            self.init(for: cause)
        } else {
            return nil
        }
    }

    /// Makes the hint of `remedy`; `nil` if no flag or command of this program does it.
    init?(_ remedy: Remedy) {
        let row =
            Self.ofContainers(remedy) ?? Self.ofArchives(remedy) ?? Self.ofBackups(remedy)
            ?? Self.ofExtensions(remedy) ?? Self.ofStores(remedy)
        guard let row else { return nil }
        self.init(flag: row.flag, advice: row.advice)
    }

    private typealias Row = (flag: String?, advice: String)

    private static func ofContainers(_ remedy: Remedy) -> Row? {
        switch remedy {
        case .discardImport:
            ("--discard", "'migrate recover --discard' gives the import up and keeps all data")
        case .finishImport: (nil, "'migrate recover' tries again")
        case .takeAnyDirectory:
            (
                "--not-a-container",
                "name one of them, or take the directory as it is with '--not-a-container'"
            )
        case .changeApp:
            ("--as", "drop '--bundle-id', or change whose data it is with '--as'")
        case .takeForApp(let app):
            ("--as", "import it with '--as \(app)' if the data is for that app")
        case .replaceForApp(let app):
            ("--as", "replace it with '--as \(app)' if the archive is of that app")
        case .nameOtherApp: ("--as", "'--as' names the other")
        default: nil
        }
    }

    private static func ofArchives(_ remedy: Remedy) -> Row? {
        let rest = "| migrate import - --container <dir>"
        return switch remedy {
        case .allowIncomplete:
            ("--allow-incomplete", "use --allow-incomplete to replace data with it")
        case .exportBundle:
            (
                "--container",
                "unpack it, and 'migrate export --container <bundle>' makes an archive of it"
            )
        case .keepExternalLinks:
            (
                "--external-links",
                "only '--external-links keep' restores them, wherever they lead"
            )
        case .restoreNoExtraMetadata:
            ("--owners", "drop '--owners', '--acls' and '--xattrs'")
        case .restoreOwnersAsRoot: ("--owners", "run it as root or drop '--owners'")
        case .archiveMetadata(let kind):
            (flag(of: kind), "export with '\(spelled(kind))', or drop it here")
        case .holdMetadata(let kind): (flag(of: kind), "'\(spelled(kind))' archives it")
        case .runReceiver: (nil, "'migrate receive' must be what runs there")
        case .decompress(let program): (nil, "'\(program) <file> \(rest)' reads it")
        case .makeTarFile: (nil, "'bsdtar -cf - @<file> \(rest)' reads it")
        default: nil
        }
    }

    private static func flag(of kind: Remedy.Metadata) -> String {
        switch kind {
        case .owners: "--owners"
        case .accessLists: "--acls"
        case .attributes: "--xattrs"
        }
    }

    private static func spelled(_ kind: Remedy.Metadata) -> String {
        kind == .attributes ? "--xattrs all" : flag(of: kind)
    }

    private static func ofBackups(_ remedy: Remedy) -> Row? {
        switch remedy {
        case .convertAndroidBackup:
            (nil, "'migrate android convert' makes an archive of it")
        case .convertIPhoneBackup:
            (nil, "'migrate ios convert' takes an app's data out of it")
        case .convertToAndroid: ("--to", "'--to android' makes a backup of it")
        case .namePackage: ("--package", "name it with '--package'")
        case .choosePackage: ("--package", "choose one with '--package'")
        case .giveRules: ("--rules", "give '--rules'")
        case .giveRulesOrDropImporter:
            ("--app-id", "convert the backup with its manifest or '--rules', or drop '--app-id'")
        case .chooseImporter: ("--app-id", "choose one with '--app-id'")
        case .givePassword: ("--password-file", "give its password with '--password-file'")
        case .judgeUnclearEnd:
            ("--trust-sizes", "'--trust-sizes' takes it as it is, '--salvage' leaves it out")
        case .judgeUnclearEntries:
            (
                "--trust-sizes",
                "'--trust-sizes' takes it as one file, '--salvage' takes the entries inside it"
            )
        case .skipStart(let count):
            (nil, "'tail -c +\(count + 1) <file> | migrate android convert -' leaves them out")
        case .previewBackup: (nil, "'migrate android preview' says why")
        case .nameNoFurtherPlaces:
            ("--external", "'--external' and '--device' belong to a directory")
        default: nil
        }
    }

    private static func ofExtensions(_ remedy: Remedy) -> Row? {
        switch remedy {
        case .nameArchive: ("--archive", "name an archive to rehearse with '--archive'")
        case .nameSource:
            (
                "--source-app",
                "say what it expects of the source with '--source-app' and '--source-platform'"
            )
        case .appendLeftBehind:
            (
                "--expect-complete",
                "append it in exportResources, or export without '--expect-complete'"
            )
        case .changeGrant: ("--grant", "'--grant' names it")
        case .allowLongerSilence: ("--hang-timeout", "--hang-timeout allows more")
        case .allowMoreTemporarySpace: ("--temporary-space", "--temporary-space allows more")
        case .allowMoreMemory: ("--memory-limit", "--memory-limit allows more")
        case .limitMemory: ("--memory-limit", "--memory-limit bounds that of each process")
        case .mapGroups(let groups):
            (
                "--group",
                groups.map { "'--group \($0)=<dir>'" }.joined(separator: " ")
                    + " gives it, '--no-group \(groups.first ?? "<id>")' leaves it out"
            )
        case .nameContainerApp: ("--bundle-id", "'--bundle-id' names it")
        default: nil
        }
    }

    private static func ofStores(_ remedy: Remedy) -> Row? {
        switch remedy {
        case .dropOrRename(let name, let other):
            (
                "--drop",
                "name it with --drop \(name)"
                    + (other.map { " (or --rename \(name)=\($0), if it only has another name)" }
                        ?? "")
            )
        case .correctRename(let name, let other):
            ("--rename", "correct '--rename \(name)=\(other)'")
        default: nil
        }
    }
}
