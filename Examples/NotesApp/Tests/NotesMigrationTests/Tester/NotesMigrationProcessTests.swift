import AppMigrationKit
import AppMigrationTesting
import Foundation
import NotesStore
import Testing

/// The extension as the system runs it: a program, confined to what its entitlements name.
@Suite(
    .migration(
        executable: "NotesMigration",
        entitlements: .notesMigrationEntitlements,
        applicationGroups: [SharedGroup.identifier]
    )
)
struct NotesMigrationProcessTests {
    @Test(arguments: ReleasedFormat.allCases)
    func `notes survive the way to Android and back`(_ format: ReleasedFormat) async throws {
        let context = try #require(MigrationTestContext.current)
        let container = context.container
        #expect(container.bundleIdentifier == "com.example.notes")
        try format.write(to: container.containerRootDirectory)
        let tester = try await AppMigrationTester(platform: .android)

        let result = try await tester.exportController.exportResources()
        #expect(result.exportProperties.version == format.rawValue)
        #expect(await tester.findings == [])

        try container.empty()
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        #expect(try NotesStore(in: container).notes() == format.notes)
        #expect(await tester.findings == [])
        let group = try #require(context.applicationGroups[SharedGroup.identifier])
        #expect(try SharedGroup(in: group).snapshot()?.titles == ["Only a title", "Plants"])
    }

    @Test
    func `the person can understand why an import failed`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        try await withResources(of: .version3) { resources in
            let error = try await #require(throws: NSError.self) {
                try await tester.importController.importResources(
                    from: resources,
                    importRequest: .fromAndroid(version: "4.0")
                )
            }
            let expected = StoreError.unknownVersion("4.0").errorDescription
            #expect(error.localizedDescription == expected)
        }
    }
}

extension URL {
    /// The entitlements that the extension is built with.
    fileprivate static let notesMigrationEntitlements = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../../../Sources/NotesMigration/NotesMigration.entitlements")
        .standardized
}
