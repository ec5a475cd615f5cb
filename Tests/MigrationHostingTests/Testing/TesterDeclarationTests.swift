import AppMigrationKit
import AppMigrationTesting
import Foundation
import Testing

/// The tester as a client writes it: what Apple's interface declares must compile.
@Suite(.migration(of: PictureExporter.self))
struct TesterDeclarationTests {
    private func expectSendable<Value: Sendable>(_: Value.Type) {}
    private func expectActor<Value: Actor>(_: Value.Type) {}

    @Test
    func `declares types that pass between tasks`() {
        expectActor(AppMigrationTester.self)
        expectSendable(AppMigrationTester.self)
        expectSendable(AppMigrationTester.AppExportController.self)
        expectSendable(AppMigrationTester.AppImportController.self)
        expectSendable(AppMigrationTester.DeviceToDeviceExportProperties.self)
        expectSendable(AppMigrationTester.ResourcesExportResult.self)
    }

    @Test
    func `declares the controllers' methods`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let exporting: AppMigrationTester.AppExportController = try await tester.exportController
        let importing: AppMigrationTester.AppImportController = try await tester.importController
        let plain: (MigrationRequest?, Progress?) async throws -> Result =
            exporting.exportResources(request:progress:)
        let generic:
            (MigrationRequestWithOptions<PictureOption>?, Progress?) async throws -> Result =
                exporting.exportResources(request:progress:)
        let `import`: (URL, ResourcesImportRequest?, Progress?) async throws -> Void =
            importing.importResources(from:importRequest:progress:)
        let register: (MigrationStatus) async throws -> Void =
            importing.registerImportCompletion(with:)
        _ = (plain, generic, `import`, register)
    }

    @Test
    func `declares the properties of an export`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        let url: URL = result.extractedResourcesURL
        let properties: AppMigrationTester.DeviceToDeviceExportProperties = result.exportProperties
        let numbers: (Int, Int?, Int) = (
            properties.uncompressedBytes, properties.compressedBytes, properties.sizeEstimate
        )
        let version: String = properties.version
        #expect(url.isFileURL)
        #expect(numbers.0 > 0)
        #expect(version == "5")
    }

    @MainActor
    @Test
    func `takes a status that the main actor gives away`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let status = MigrationStatus.failure(CocoaError(.fileReadCorruptFile))
        try await tester.importController.registerImportCompletion(with: status)
    }

    private typealias PictureRequest = MigrationRequestWithOptions<PictureOption>
    private typealias Result = AppMigrationTester.ResourcesExportResult
}
