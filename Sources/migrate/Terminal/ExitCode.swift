internal import AndroidMigration
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem
internal import StoreMigration

/// The exit code of the program; those from 64 to 78 have the meaning that `sysexits.h` gives them.
struct ExitCode: Hashable, Sendable {
    /// The number that the parent process sees.
    let rawValue: Int32

    /// The command succeeded.
    static let success = ExitCode(rawValue: 0)

    /// A failure without its own code.
    static let failure = ExitCode(rawValue: 1)

    /// `diff` found differences.
    static let differences = ExitCode(rawValue: 1)

    /// `preflight` found mistakes.
    static let findings = ExitCode(rawValue: 1)

    /// `diff` could not compare, for a reason without its own code.
    static let notCompared = ExitCode(rawValue: 2)

    /// `status` found that the last import failed.
    static let importFailed = ExitCode(rawValue: 3)

    /// `status` found that the last import was interrupted.
    static let importInterrupted = ExitCode(rawValue: 4)

    /// `status` found no import.
    static let noImport = ExitCode(rawValue: 5)

    /// The command line was wrong.
    static let usage = ExitCode(rawValue: 64)

    /// The archive is damaged, holds entries that must not be restored, or is not the expected one.
    static let badArchive = ExitCode(rawValue: 65)

    /// The system doesn't allow the program enough resources to start.
    static let systemTooSmall = ExitCode(rawValue: 71)

    /// The output already exists, or could not be written.
    static let cannotCreateOutput = ExitCode(rawValue: 73)

    /// The command that consumes or produces the archive failed.
    static let commandFailed = ExitCode(rawValue: 74)

    /// Another process is using the container, or writing the archive.
    static let containerBusy = ExitCode(rawValue: 75)

    /// The archive can't be opened with the given keys or lacks a required signature, or the extension
    /// may not run: its entitlements are not valid, it can't be confined, or paths would lose files.
    static let notPermitted = ExitCode(rawValue: 77)

    /// `run` could not execute the command, which exists.
    static let commandNotExecutable = ExitCode(rawValue: 126)

    /// `run` did not find the command.
    static let commandNotFound = ExitCode(rawValue: 127)

    /// A signal ended the command, which cleaned up first.
    static func signal(_ number: Int32) -> ExitCode {
        ExitCode(rawValue: 128 + number)
    }
}

extension ExitCode {
    /// Makes the code for an error that ends the command.
    init(for error: any Error) {
        self =
            switch error {
            case _ where Self.isOfTooFewFiles(error): .systemTooSmall
            case is UsageError: .usage
            case let error as OutputError: error.exitCode
            case let error as ProgramStartError:
                error.cause.isMissing ? .commandNotFound : .commandNotExecutable
            case let error as ArchiveError: ExitCode(error.code)
            case let error as MigrationError: ExitCode(error.code)
            case let error as AndroidMigrationError: ExitCode(error.code)
            case let error as StoreMigrationError: ExitCode(error.code)
            default: .failure
            }
    }

    /// Whether the system allows too few open files.
    private static func isOfTooFewFiles(_ error: any Error) -> Bool {
        switch error {
        case let error as SystemError: error.isOfTooFewFiles
        case let error as any CodedError: error.underlying.map(isOfTooFewFiles) ?? false
        default: false
        }
    }

    /// Makes the code for a failure of an archive.
    init(_ code: ArchiveError.Code) {
        self =
            switch code {
            case .damaged, .truncated, .refused, .externalLink, .notAnArchive, .unsupported,
                .entryExists:
                .badArchive
            case .headerDamaged, .workFactorTooLarge: .badArchive
            case .keyMissing, .keyRefused, .passphraseWrong: .notPermitted
            case .keyInvalid: .usage
            case .outOfSpace, .outputFailed: .cannotCreateOutput
            default: .failure
            }
    }

    /// Makes the code for a failure of a migration.
    init(_ code: MigrationError.Code) {
        self =
            switch code {
            case .containerHoldsData, .outputExists, .outOfSpace, .outputFailed: .cannotCreateOutput
            case .commandFailed: .commandFailed
            case .archiveBusy, .containerBusy: .containerBusy
            case .fingerprintMismatch: .badArchive
            case .signatureInvalid, .confinementUnavailable, .entitlementInvalid,
                .pathNeedsEncoding:
                .notPermitted
            case .invalidOption: .usage
            default: .failure
            }
    }

    /// Makes the code for a failure of `migrate receive` on another host, whose codes have the same
    /// meaning.
    ///
    /// Other codes come from its shell.
    init(ofReceiver code: Int32) {
        let codes: [ExitCode] = [
            .failure, .usage, .badArchive, .systemTooSmall, .cannotCreateOutput, .commandFailed,
            .containerBusy, .notPermitted,
        ]
        self = codes.first { $0.rawValue == code } ?? .commandFailed
    }

    /// Makes the code for a failure with an Android backup or rules file.
    init(_ code: AndroidMigrationError.Code) {
        self =
            switch code {
            case .damaged, .notABackup, .notAManifest, .notRules, .unclearSizes, .unsupported:
                .badArchive
            case .outputFailed: .cannotCreateOutput
            case .passwordNeeded, .wrongPassword: .notPermitted
            default: .failure
            }
    }
}

extension ExitCode {
    /// Makes the code for a failure with a store.
    init(_ code: StoreMigrationError.Code) {
        self =
            switch code {
            case .damaged, .invalidSchema: .badArchive
            case .outOfSpace: .cannotCreateOutput
            case .storeBusy: .containerBusy
            default: .failure
            }
    }
}

extension ExitCode {
    /// The codes with their meanings, and whether the same command may succeed later, as the manual and
    /// the documentation list them.
    static let meanings: [(code: String, meaning: String, retry: String)] = [
        ("0", "success; 'diff' found no differences, 'status' a successful import", "not needed"),
        (
            "1",
            "a failure without a code of its own: an unreadable file, a file that "
                + "changed during the export, an extension that failed, crashed or hung; "
                + "'diff' found differences, 'preflight' or 'android lint' mistakes, 'extract "
                + "--keep-going' damage",
            "once its cause is gone"
        ),
        (
            "2",
            "'diff' could not compare, for a reason without a code of its own",
            "once its cause is gone"
        ),
        ("3", "'status': the last import failed", "no"),
        ("4", "'status': the last import was interrupted", "no"),
        ("5", "'status': there was no import, or its status was cleared", "no"),
        ("64", "wrong usage", "no"),
        (
            "65",
            "the file is damaged, incomplete, or not an archive, or it holds entries "
                + "that must not be restored",
            "no"
        ),
        (
            "71",
            "the system allows too few threads or open files or too little memory, or "
                + "/proc is missing",
            "later"
        ),
        (
            "73",
            "the output exists already ('--force' replaces a file, '--replace' a "
                + "container's data), or it could not be written",
            "once there is space or another name"
        ),
        (
            "74",
            "the command of '--out-command' or '--in-command' failed or can't be "
                + "started, or it or its guard was killed; 'send': ssh failed, or the transfer "
                + "was cut",
            "yes"
        ),
        (
            "75",
            "the container is in use ('--wait <s>' waits for it), which can also keep an "
                + "interrupted import from being completed; or another process is writing the "
                + "archive",
            "yes"
        ),
        (
            "77",
            "the archive is encrypted and the right key or password is missing, it lacks "
                + "a required signature, or the extension may not run: its entitlements are "
                + "not valid, or it can't be confined as required",
            "no"
        ),
        ("126", "'run' could not execute the command", "no"),
        ("127", "'run' did not find the command", "no"),
        (
            "128 + n",
            "signal n ended the command, which cleaned up first; 141 means that nobody "
                + "read its output",
            "yes"
        ),
    ]
}

extension OutputError {
    /// The exit code of a command that this error ends.
    var exitCode: ExitCode {
        switch self {
        case .brokenPipe: .signal(SignalWatch.brokenPipe)
        case .interrupted: .failure
        case .closed, .failed: .cannotCreateOutput
        }
    }
}
