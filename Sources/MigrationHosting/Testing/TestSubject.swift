internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// The extension and container of a tester, and the results that its controllers share.
final class TestSubject: Sendable {
    private struct State {
        var exportedVersion: String?
        var importedSource: ImportCall?
        var findings: [ExtensionFinding] = []
        var leftBehind: LeftBehind?
    }

    let platform: MigrationPlatform
    let appExtension: MigrationExtension
    let container: MigrationDataContainer

    /// The directory of archives and extracted resources, which lasts as long as the tester.
    let directory: PrivateDirectory

    /// The extension's description of itself when the tester was made.
    let description: PreflightReport

    private let state = Monitor(State())

    /// Finds the extension and asks it for its description.
    init(platform: MigrationPlatform) async throws {
        let tested = try ExtensionUnderTest.find()
        do {
            _ = try Entitlement.check(tested.appExtension, for: tested.container)
        } catch let problem as EntitlementProblem {
            throw problem.error
        }
        self.platform = platform
        appExtension = tested.appExtension
        container = tested.container
        description = try await MigrationHost.forTests.preflight(
            tested.container,
            using: tested.appExtension
        )
        guard description.exports != nil || description.imports else {
            let message =
                "\(description.name) takes no part in migrations: it conforms neither to "
                + "ResourcesExporting nor to ResourcesImporting"
            throw MigrationError(.extensionUnsuitable, message)
        }
        directory = try PrivateDirectory()
        tested.keep(directory)
    }

    /// The version of the last export's format.
    var exportedVersion: String? { state.withLock { $0.exportedVersion } }

    /// The source of the last import.
    var importedSource: ImportCall? { state.withLock { $0.importedSource } }

    /// The mistakes that the last export or import revealed.
    var findings: [ExtensionFinding] { state.withLock { $0.findings } }

    /// The files that the last export did not append.
    var leftBehind: LeftBehind? { state.withLock { $0.leftBehind } }

    /// Forgets earlier findings before a new operation begins.
    func noteBeginning() {
        state.withLock { state in
            state.findings = []
            state.leftBehind = nil
        }
    }

    func noteExport(_ report: ExportReport) {
        state.withLock { state in
            state.exportedVersion = report.header.resourcesVersion
            state.findings = report.appExtension?.findings ?? []
            state.leftBehind = report.leftBehind
        }
    }

    func noteImport(_ call: ImportCall) {
        state.withLock { $0.importedSource = call }
    }

    func noteImport(_ report: ExtensionReport) {
        state.withLock { $0.findings = report.findings }
    }
}

/// Runs `body`, and throws an extension's error as its app would get it, not as a host throws it.
func throwingErrorsOfExtension<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as MigrationError where error.code == .extensionFailed {
        switch error.cause {
        case nil: throw error
        // Errors of the archiver that the extension passed on.
        case let cause as MigrationError: throw cause
        case let cause as ArchiveError: throw cause
        case let cause?: throw PersistedError(cause).error
        }
    }
}

extension MigrationHost {
    /// A host that waits like a tester.
    static var forTests: MigrationHost {
        var host = MigrationHost()
        host.waitLimit = AppMigrationTester.waitLimit
        // Calls of an extension in this process must not wait for the operation that runs it.
        host.queues = ExtensionContext.current?.temporaryDirectory == nil
        return host
    }
}
