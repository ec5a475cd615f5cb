import AppMigrationKit
import AppMigrationTesting
import Foundation
import Testing

@testable import ProfileMigration

/// The code of guides, with the step that they forget: emptying the container in between.
@Suite(.migration(of: ProfileMigration.self))
struct TesterGuideTests {
    private enum MigrationError: Error {
        case importFailed(String)
    }

    private let tested: ContainerUnderTest

    init() throws {
        tested = try ContainerUnderTest()
        try tested.fill()
    }

    @Test
    func `guide: a round trip keeps the data`() async throws {
        let tester = try await AppMigrationTester(platform: .android)

        let exportResult = try await tester.exportController.exportResources(
            request: nil,
            progress: nil
        )
        let properties = exportResult.exportProperties
        #expect(properties.uncompressedBytes > 0)
        #expect(properties.version == "2.0")
        if let compressed = properties.compressedBytes {
            #expect(compressed <= properties.uncompressedBytes)
        }

        try tested.container.empty()
        let importProgress = Progress(totalUnitCount: 100)
        try await tester.importController.importResources(
            from: exportResult.extractedResourcesURL,
            importRequest: nil,
            progress: importProgress
        )
        #expect(importProgress.completedUnitCount == 100)
        try await tester.importController.registerImportCompletion(with: .success)

        #expect(tested.text(of: "Notes/first.txt") == "Notes")
        guard case .success? = MigrationStatus.importStatus else {
            Issue.record("no success")
            return
        }
    }

    @Test
    func `guide: an export takes a request of one's own`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let request = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>(
            destinationPlatform: .android,
            options: [:]
        )
        let result = try await tester.exportController.exportResources(
            request: request,
            progress: nil
        )
        #expect(result.exportProperties.sizeEstimate > 0)
    }

    @Test
    func `guide: an import is told its source`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let exportResult = try await tester.exportController.exportResources(
            request: nil,
            progress: nil
        )
        let sourceApp = MigrationAppIdentifier(
            storeIdentifier: .googlePlay,
            bundleIdentifier: "com.example.androidapp",
            platform: .android
        )
        let importRequest = ResourcesImportRequest(
            sourceAppIdentifier: sourceApp,
            sourceVersion: "1.5"
        )
        try tested.container.empty()
        try await tester.importController.importResources(
            from: exportResult.extractedResourcesURL,
            importRequest: importRequest,
            progress: nil
        )
        try await tester.importController.registerImportCompletion(with: .success)
        #expect(tested.source == "googlePlay com.example.androidapp android 1.5")
    }

    @Test
    func `guide: a failure is what the app finds at its next launch`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let error = MigrationError.importFailed("Test failure")
        try await tester.importController.registerImportCompletion(with: .failure(error))

        guard case .failure(let found)? = MigrationStatus.importStatus else {
            Issue.record("no failure")
            return
        }
        #expect((found as NSError).domain == (error as NSError).domain)
        MigrationStatus.clearImportStatus()
        #expect(MigrationStatus.importStatus == nil)
    }
}
