import AppMigrationKit
import AppMigrationTesting
import Foundation
import Testing

/// The tests that guides show, each with the extension in a process of its own.
@Suite(
    .migration(
        executable: "DocumentedMigration",
        entitlements: URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "guide.entitlements"),
        hangTimeout: .seconds(600)
    )
)
struct GuideTesterTests {
    private let photos: URL
    private let container: MigrationDataContainer

    init() throws {
        container = try #require(MigrationTestContext.current).container
        photos = container.documentsDirectory.appending(path: "photos")
        try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
        for (name, size) in [("one.jpg", 3000), ("two.jpg", 5000)] {
            try Data(repeating: 7, count: size).write(to: photos.appending(path: name))
        }
    }

    @Test func `an export gives what it promises`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let exporter = try await tester.exportController
        let result = try await exporter.exportResources(request: nil, progress: nil)
        let properties = result.exportProperties
        #expect(properties.version == "2.0")
        #expect(properties.sizeEstimate == 8000)
        #expect(properties.uncompressedBytes > 0)
        let exported = result.extractedResourcesURL.appending(path: "media/one.jpg")
        #expect(FileManager.default.fileExists(atPath: exported.path()))
    }

    @Test func `a round trip restores every file, and the app is told`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        try container.empty()
        let progress = Progress(totalUnitCount: 100)
        let importer = try await tester.importController
        try await importer.importResources(
            from: result.extractedResourcesURL,
            importRequest: nil,
            progress: progress
        )
        #expect(progress.isFinished)
        #expect(try Data(contentsOf: photos.appending(path: "two.jpg")).count == 5000)
        #expect(await tester.findings.map(\.code) == [.progressNotKept])
        try await importer.registerImportCompletion(with: .success)
        guard case .success? = MigrationStatus.importStatus else {
            Issue.record("the app is not told")
            return
        }
        MigrationStatus.clearImportStatus()
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test func `data of an unknown version is refused with the app's own error`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        try container.empty()
        let request = ResourcesImportRequest(
            sourceAppIdentifier: MigrationAppIdentifier(
                storeIdentifier: .googlePlay,
                bundleIdentifier: "com.example.guide",
                platform: .android
            ),
            sourceVersion: "99.0"
        )
        let importer = try await tester.importController
        let error = await #expect(throws: NSError.self) {
            try await importer.importResources(
                from: result.extractedResourcesURL,
                importRequest: request
            )
        }
        #expect(error?.domain == "GuideModel.MigrationError")
        #expect(error?.localizedDescription == "Data of version 99.0 can't be imported.")
    }
}
