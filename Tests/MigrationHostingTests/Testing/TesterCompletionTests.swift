import AppMigrationTesting
import Foundation
import MigrationHosting
import Testing

@testable import ProfileMigration

/// The status that a tester leaves for the app.
@Suite(.migration(of: ProfileMigration.self))
struct TesterCompletionTests {
    private let tested: ContainerUnderTest

    init() throws {
        tested = try ContainerUnderTest()
        try tested.fill()
    }

    /// The status that the app of this test finds at its launch.
    private var failure: NSError? {
        guard case .failure(let error)? = MigrationStatus.importStatus else { return nil }
        return error as NSError
    }

    @Test
    func `rule 34: an import registers nothing by itself`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        try tested.container.empty()
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        #expect(MigrationStatus.importStatus == nil)
        #expect(try tested.container.importRecord() == nil)
    }

    @Test
    func `rule 34: registers a success, which lasts until the app clears it`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        try tested.container.empty()
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        try await tester.importController.registerImportCompletion(with: .success)
        for _ in 0..<2 {
            guard case .success? = MigrationStatus.importStatus else {
                Issue.record("no success")
                return
            }
        }
        let record = try #require(try tested.container.importRecord())
        #expect(record.outcome == .success)
        #expect(record.bundleIdentifier == "com.example.app")
        #expect(record.platform == "android")
        #expect(record.resourcesVersion == "2.0")
        #expect(record.fingerprint == nil)
        MigrationStatus.clearImportStatus()
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test
    func `rule 34: registers a failure, as rule 22 reads it back`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let thrown = FailingImporter.Failure()
        try await tester.importController.registerImportCompletion(with: .failure(thrown))
        let failure = try #require(failure)
        #expect(failure.domain == "Notes")
        #expect(failure.code == 7)
        #expect(failure.localizedDescription == "The notes are too old.")
    }

    @Test(.migration(of: FailingImporter.self))
    func `rule 34: registers what a tester's import threw as a real one does`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        do {
            try await tester.importController.importResources(
                from: tested.container.documentsDirectory
            )
            Issue.record("no failure")
        } catch {
            try await tester.importController.registerImportCompletion(with: .failure(error))
        }
        #expect(failure?.domain == "Notes")
        #expect(failure?.localizedDescription == "The notes are too old.")
    }

    @Test
    func `rule 34: a cancellation that was thrown is read back as an NSError`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let controller = try await tester.importController
        try await controller.registerImportCompletion(with: .failure(CancellationError()))
        #expect(failure?.domain == "Swift.CancellationError")
        #expect(failure?.localizedDescription == "the operation was cancelled")
    }

    @Test
    func `rule 34: an interruption is registered as one`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let controller = try await tester.importController
        let record = #"{"version":1,"outcome":"interrupted","date":"2026-01-01T00:00:00Z"}"#
        let bookkeeping = tested.container.containerRootDirectory.appending(path: ".migration")
        try FileManager.default.createDirectory(
            at: bookkeeping,
            withIntermediateDirectories: true
        )
        try Data(record.utf8).write(to: bookkeeping.appending(path: "import-status.json"))
        #expect(try tested.container.importRecord()?.outcome == .interrupted)
        guard case .failure(let error)? = MigrationStatus.importStatus else {
            Issue.record("no failure")
            return
        }
        // A status that was read can be registered again.
        try await controller.registerImportCompletion(with: .failure(error))
        #expect(try tested.container.importRecord()?.outcome == .interrupted)
    }

    @Test
    func `rule 34: registers again over what was registered`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let controller = try await tester.importController
        try await controller.registerImportCompletion(with: .failure(FailingImporter.Failure()))
        try await controller.registerImportCompletion(with: .success)
        #expect(failure == nil)
    }
}
