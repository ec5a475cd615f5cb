internal import AndroidMigration
internal import Glibc
internal import MigrationArchive
internal import MigrationCore

/// The exit code of the program, as README lists it.
struct ExitCode: Hashable, Sendable {
    /// The number that the parent process sees.
    let rawValue: Int32

    /// The command succeeded.
    static let success = ExitCode(rawValue: 0)

    /// A failure without a code of its own.
    static let failure = ExitCode(rawValue: 1)

    /// `diff` found differences.
    static let differences = ExitCode(rawValue: 1)

    /// `preflight` found mistakes.
    static let findings = ExitCode(rawValue: 1)

    /// `diff` could not compare, for a reason without a code of its own.
    static let notCompared = ExitCode(rawValue: 2)

    /// `status` found that the last import failed.
    static let importFailed = ExitCode(rawValue: 3)

    /// `status` found that the last import was interrupted.
    static let importInterrupted = ExitCode(rawValue: 4)

    /// `status` found no import.
    static let noImport = ExitCode(rawValue: 5)

    /// The command line was wrong.
    static let usage = ExitCode(rawValue: EX_USAGE)

    /// The archive is damaged, or holds entries that must not be restored.
    static let badArchive = ExitCode(rawValue: EX_DATAERR)

    /// The output exists already, or could not be written.
    static let cannotCreateOutput = ExitCode(rawValue: EX_CANTCREAT)

    /// Another process is using the container.
    static let containerBusy = ExitCode(rawValue: EX_TEMPFAIL)

    /// The archive can't be opened with the given keys or lacks a required signature, or the extension
    /// may not run: its entitlements are not valid, it can't be confined, or paths would lose files.
    static let notPermitted = ExitCode(rawValue: EX_NOPERM)

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
            case is UsageError: .usage
            case let error as OutputError: error.exitCode
            case let error as ProgramStartError:
                error.cause.code == ENOENT ? .commandNotFound : .commandNotExecutable
            case let error as ArchiveError: ExitCode(error.code)
            case let error as MigrationError: ExitCode(error.code)
            case let error as AndroidMigrationError: ExitCode(error.code)
            default: .failure
            }
    }

    /// Makes the code for a failure of an archive.
    init(_ code: ArchiveError.Code) {
        self =
            switch code {
            case .damaged, .truncated, .refused, .notAnArchive, .unsupported, .entryExists:
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
            case .containerBusy: .containerBusy
            case .signatureInvalid, .confinementUnavailable, .entitlementInvalid,
                .pathNeedsEncoding:
                .notPermitted
            case .invalidOption: .usage
            default: .failure
            }
    }

    /// Makes the code for a failure with an Android backup or rules file.
    init(_ code: AndroidMigrationError.Code) {
        self =
            switch code {
            case .damaged, .notABackup, .notAManifest, .notRules, .unsupported: .badArchive
            case .outputFailed: .cannotCreateOutput
            case .passwordNeeded, .wrongPassword: .notPermitted
            default: .failure
            }
    }
}
