internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// What a tester tests, and what its controllers remember of it.
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

    /// Where archives and extracted resources are, as long as the tester.
    let directory: PrivateDirectory

    /// What the extension said of itself when the tester was made.
    let description: PreflightReport

    private let state = Monitor(State())

    /// Finds the extension and asks it what it can do.
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

    /// The version of the format that the last export was in.
    var exportedVersion: String? { state.withLock { $0.exportedVersion } }

    /// What the last import was told of its source.
    var importedSource: ImportCall? { state.withLock { $0.importedSource } }

    /// The mistakes that the last export or import came upon.
    var findings: [ExtensionFinding] { state.withLock { $0.findings } }

    /// What the last export did not append.
    var leftBehind: LeftBehind? { state.withLock { $0.leftBehind } }

    /// Forgets the findings of what came before, since something else begins.
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

/// Does `body`, and throws what an extension threw as its app would get it rather than as a host does.
func throwingErrorsOfExtension<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as MigrationError where error.code == .extensionFailed {
        switch error.cause {
        case nil: throw error
        // The archiver's own errors, which the extension let pass.
        case let cause as MigrationError: throw cause
        case let cause as ArchiveError: throw cause
        case let cause?: throw PersistedError(cause).error
        }
    }
}
