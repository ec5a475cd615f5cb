import AppMigrationKit
import AppMigrationTesting
import Foundation
import NotesStore
import Testing

@testable import NotesMigration
@testable import notes

/// The extension as the system calls it, in this process.
@Suite(
    .migration(
        of: NotesMigration.self,
        bundleIdentifier: "com.example.notes",
        applicationGroups: [SharedGroup.identifier]
    )
)
struct NotesMigrationTests {
    @Test
    func `notes survive the way to Android and back`() async throws {
        let container = try #require(MigrationTestContext.current).container
        try ReleasedFormat.version3.write(to: container.containerRootDirectory)
        let tester = try await AppMigrationTester(platform: .android)

        let result = try await tester.exportController.exportResources()
        #expect(result.exportProperties.version == "3.0")
        #expect(
            result.exportProperties.sizeEstimate <= result.exportProperties.uncompressedBytes
        )
        #expect(try result.extractedResourcesURL.files == ReleasedFormat.version3.resources.files)
        #expect(await tester.findings == [])

        try container.empty()
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        #expect(try NotesStore(in: container).notes() == ReleasedFormat.version3.notes)
        #expect(await tester.findings == [])
    }

    @Test
    func `the request says where the notes go`() async throws {
        let container = try #require(MigrationTestContext.current).container
        try ReleasedFormat.version2.write(to: container.containerRootDirectory)
        let tester = try await AppMigrationTester(platform: .android)
        let controller = try await tester.exportController

        let android = MigrationRequest(destinationPlatform: .android)
        let result = try await controller.exportResources(request: android)
        #expect(result.exportProperties.version == "2.0")
        let toaster = MigrationRequest(destinationPlatform: MigrationPlatform("toaster"))
        await #expect(throws: (any Error).self) {
            try await controller.exportResources(request: toaster)
        }
    }

    @Test(arguments: ReleasedFormat.allCases)
    func `notes of every version arrive from Android`(_ format: ReleasedFormat) async throws {
        let container = try #require(MigrationTestContext.current).container
        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 0)
        try await withResources(of: format) { resources in
            try await tester.importController.importResources(
                from: resources,
                importRequest: .fromAndroid(version: format.rawValue),
                progress: progress
            )
            #expect(try resources.files == [:])
        }
        #expect(try NotesStore(in: container).notes() == format.notes)
        #expect(progress.isFinished)
        #expect(await tester.findings == [])
    }

    @Test
    func `an import clears the app group before it writes to it`() async throws {
        let context = try #require(MigrationTestContext.current)
        let group = try #require(context.applicationGroups[SharedGroup.identifier])
        try Data("stale".utf8).write(to: group.appending(path: "stale.json"))
        let tester = try await AppMigrationTester(platform: .android)
        try await withResources(of: .version3) { resources in
            try await tester.importController.importResources(
                from: resources,
                importRequest: .fromAndroid(version: "3.0")
            )
        }
        let snapshot = try SharedGroup(in: group).snapshot()
        #expect(snapshot?.titles == ["Only a title", "Plants"])
        #expect(try group.files.count == 1)
        #expect(await tester.findings == [])
    }

    @Test(arguments: [
        ResourcesImportRequest.fromAndroid(version: "4.0"),
        .fromAndroid(app: "com.example.rival", version: "3.0"),
    ])
    func `what can't be taken is refused with the data untouched`(
        _ request: ResourcesImportRequest
    ) async throws {
        let context = try #require(MigrationTestContext.current)
        let group = try #require(context.applicationGroups[SharedGroup.identifier])
        try Data("as it was".utf8).write(to: group.appending(path: "widget.json"))
        let tester = try await AppMigrationTester(platform: .android)
        try await withResources(of: .version3) { resources in
            await #expect(throws: (any Error).self) {
                try await tester.importController.importResources(
                    from: resources,
                    importRequest: request
                )
            }
            let untouched = try resources.files
            #expect(try untouched == ReleasedFormat.version3.resources.files)
        }
        #expect(try context.container.containerRootDirectory.files == [:])
        #expect(try group.files == ["widget.json": Data("as it was".utf8)])
    }

    @Test
    func `the app says once why the notes did not arrive`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let failure = NotesMigrationError.noAppThere("toaster")
        try await tester.importController.registerImportCompletion(with: .failure(failure))
        var notices: [String] = []
        for _ in 1...2 { ImportNotice.showOnce { notices.append($0) } }
        let reason = try #require(failure.errorDescription)
        #expect(notices == ["Your notes did not arrive. \(reason)"])
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test
    func `the app says once that the notes have arrived`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.registerImportCompletion(with: .success)
        var notices: [String] = []
        for _ in 1...2 { ImportNotice.showOnce { notices.append($0) } }
        #expect(notices == ["Your notes have arrived."])
    }

    @Test
    func `lets a cancellation pass`() async throws {
        let container = try #require(MigrationTestContext.current).container
        try ReleasedFormat.version3.write(to: container.containerRootDirectory)
        let tester = try await AppMigrationTester(platform: .android)
        #expect(try await tester.rehearseCancellation() == [])
    }
}
