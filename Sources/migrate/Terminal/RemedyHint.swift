internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// The table of hints: the flags and commands that carry out remedies.
extension ErrorMessage.Hint {
    /// Makes the hint for `error` or its cause; `nil` if no remedy is known.
    init?(for error: any Error) {
        guard let error = error as? any CodedError else { return nil }
        let hints = error.remedies.compactMap { Self($0) }
        if let first = hints.first {
            let advice = hints.map(\.advice).joined(separator: "; ")
            self.init(flag: first.flag, advice: advice)
        } else if error.remedies.isEmpty, let cause = error.underlying {
            self.init(for: cause)
        } else {
            return nil
        }
    }

    /// Makes the hint for `remedy`; `nil` if this program has no flag or command for it.
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
        case .restoreOwners: ("--owners", "'--owners' restores")
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

// MARK: - Flags of the command

/// A command that an error ended, with its command line.
struct FailedCommand {
    let description: CommandDescription
    let given: GivenFlags
    let replacesExisting: Bool

    /// The archive that the command writes or reads, if its runs are recorded.
    let archive: ArchiveName?

    fileprivate func offers(_ name: String) -> Bool {
        description.flags.contains { $0.name == name }
    }

    /// Whether the command has the flag, and the command line doesn't.
    fileprivate func lacks(_ name: String) -> Bool { offers(name) && given.values[name] == nil }
}

/// The table of remedies for errors in the command that failed.
extension ErrorMessage.Hint {
    /// Makes the hint for a flag of `command` that helps against `error` or its cause; `nil` if
    /// none does.
    init?(for error: any Error, in command: FailedCommand) {
        let row: Row? =
            switch error {
            case _
            where error.isOutOfSpace && command.offers("out") && !command.offers("allow-unfinished"):
                ("--out", "'--out' may name a place with more space")
            case let error as ArchiveError: Self.row(error, in: command)
            case let error as MigrationError: Self.row(error, in: command)
            default: nil
            }
        if let row {
            self.init(flag: row.flag, advice: row.advice)
        } else if let cause = (error as? MigrationError)?.cause {
            self.init(for: cause, in: command)
        } else {
            return nil
        }
    }

    private static func row(_ error: ArchiveError, in command: FailedCommand) -> Row? {
        // An error of an iPhone backup.
        if command.offers("allow-unfinished"), let row = rowOfIPhones(error.code) { return row }
        switch error.code {
        case .keyMissing:
            return ("--identity", "give '--identity', '--passphrase' or '--passphrase-file'")
        case .workFactorTooLarge:
            return ("--max-work-factor", "'--max-work-factor' allows more")
        case .notFound where command.offers("app"):
            return ("--app", "'migrate ios apps' lists what is there")
        case .notFound where command.offers("glob") && error.namesPattern:
            return ("--glob", "'--glob' takes patterns")
        case _ where error.isOfRefusedKind: return nil
        case .externalLink where command.offers("external-links"):
            return (
                "--external-links",
                "'--external-links skip' leaves such links out, and 'keep' keeps them"
            )
        case .damaged, .truncated, .refused, .entryExists:
            let rest = "restores what can be proved"
            let checks = "'migrate verify' checks the archive"
            return switch command.description.name {
            case "import":
                ("--keep-going", "\(checks), and 'migrate extract --keep-going' \(rest)")
            case "extract": ("--keep-going", "--keep-going \(rest)")
            default: nil
            }
        default: return nil
        }
    }

    private static func rowOfIPhones(_ code: ArchiveError.Code) -> Row? {
        switch code {
        case .keyMissing:
            (
                "--password-file",
                "give its password with --password-file, or run the command at a terminal"
            )
        case .passphraseWrong:
            (
                "--password-file",
                "it is the one that was set when backups were first encrypted, neither the "
                    + "passcode nor the Apple account's"
            )
        case .truncated:
            (
                "--allow-unfinished",
                "--allow-unfinished reads what is there, if it has a manifest"
            )
        default: nil
        }
    }

    private static func row(_ error: MigrationError, in command: FailedCommand) -> Row? {
        switch error.code {
        case .containerBusy where command.lacks("wait"):
            ("--wait", "use --wait <s> to wait for it")
        case .outputExists where command.lacks("merge"):
            ("--merge", "use --merge to extract into existing directories")
        case .outputExists where command.offers("force") && !command.replacesExisting:
            ("--force", "use --force to replace it")
        case .containerHoldsData where command.offers("replace"):
            ("--replace", "use --replace to replace it")
        case .commandFailed
        where command.offers("remote-command")
            && (error.cause as? ReceiverFailure)?.isOfMissingCommand == true:
            (
                "--remote-command",
                "'--remote-command' names 'migrate' there, for example by its path"
            )
        case .statusUnreadable where command.offers("clear") && !(error.cause is SystemError):
            ("--clear", "use --clear to clear it")
        case .outputFailed
        where command.offers("out")
            && command.archive.map { $0.path.parent == error.bytePath } == true
            && (error.cause as? SystemError)?.isMissing == true:
            ("--out", "the directory of --out must exist")
        default: nil
        }
    }

    /// The advice for a remedy, for texts of MigrationReports.
    static let advice: Advice = { remedy in ErrorMessage.Hint(remedy)?.advice }

    /// The next steps for the reader of an answer.
    static let step: @Sendable (NextStep) -> String = { step in
        switch step {
        case .listAll: "--json lists"
        case .nameApp: "name it with '--bundle-id'"
        case .goBack: "'migrate recover' says how to go back"
        case .showNotes: "'--notes' shows them"
        case .chooseGroup: "--app-group"
        case .keepGoing: "--keep-going archives the rest"
        case .moveData(let source, let destination):
            "migrate export --container \(source) --out - "
                + "| migrate import - --replace --container \(destination)"
        }
    }

    /// The remedy if an extension needs to know the exporting app.
    static let ofSource = "give '--source-app', '--source-platform' and '--source-version'"
}

extension Wording {
    /// The wording for texts of MigrationReports.
    static let ofFlags = Wording(advice: ErrorMessage.Hint.advice, step: ErrorMessage.Hint.step)
}

extension Error {
    /// Whether there was not enough space for the output.
    fileprivate var isOutOfSpace: Bool {
        (self as? ArchiveError)?.code == .outOfSpace
            || (self as? MigrationError)?.code == .outOfSpace
    }
}

extension ArchiveError {
    /// Whether the missing entry looks like a pattern.
    fileprivate var namesPattern: Bool {
        entry?.bytes.contains { [UInt8]("*?[".utf8).contains($0) } ?? false
    }
}
