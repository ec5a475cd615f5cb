import Glibc
import MigrationArchive
import MigrationCore
import MigrationSystem
import Testing

@testable import MigrationReports
@testable import migrate

struct ExitCodeTests {
    @Test(
        arguments: [
            (.damaged, 65), (.truncated, 65), (.refused, 65), (.externalLink, 65),
            (.notAnArchive, 65), (.unsupported, 65), (.entryExists, 65), (.outOfSpace, 73),
            (.outputFailed, 73), (.notFound, 1), (.inputFailed, 1), (.sourceChanged, 1),
            (.sourceUnreadable, 1), (.unrepresentable, 1),
        ] as [(ArchiveError.Code, Int32)]
    )
    func `tells a bad archive from a bad output`(_ code: ArchiveError.Code, _ number: Int32) {
        #expect(ExitCode(for: ArchiveError(code, "why")).rawValue == number)
    }

    @Test(
        arguments: [
            (.archiveBusy, 75), (.containerBusy, 75), (.containerHoldsData, 73),
            (.containerInvalid, 1),
            (.identifierMismatch, 1), (.outputExists, 73), (.outOfSpace, 73), (.outputFailed, 73),
            (.statusUnreadable, 1), (.invalidOption, 64), (.entitlementInvalid, 77),
            (.confinementUnavailable, 77), (.pathNeedsEncoding, 77), (.extensionUnsuitable, 1),
            (.extensionCrashed, 1), (.limitExceeded, 1),
            (.extensionFailed, 1), (.extensionHung, 1), (.cancellationIgnored, 1),
            (.sessionFailed, 1),
        ] as [(MigrationError.Code, Int32)]
    )
    func `tells a busy container from others`(_ code: MigrationError.Code, _ number: Int32) {
        #expect(ExitCode(code).rawValue == number)
    }

    @Test func `maps the errors of the command itself`() {
        #expect(ExitCode(for: UsageError("why")).rawValue == 64)
        #expect(ExitCode(for: OutputError.brokenPipe).rawValue == 141)
        let full = OutputError.failed(SystemError("write", code: ENOSPC))
        #expect(ExitCode(for: full).rawValue == 73)
        #expect(ExitCode(for: CancellationError()).rawValue == 1)
        #expect(ExitCode.signal(SIGTERM).rawValue == 143)
    }
}
