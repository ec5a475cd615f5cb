import Foundation
import MigrationHosting
import MigrationSystem
import Testing

@testable import AppMigrationTesting

/// An extension in a process of its own, found beside the tests.
@Suite(.migration(executable: "ProfileMigration", entitlements: SampleProgram.entitlements))
struct ExecutableTraitTests {
    @Test
    func `moves documents out of a process of its own and back into another`() async throws {
        let container = try #require(MigrationTestContext.current).container
        #expect(container.bundleIdentifier == "com.example.profile")
        let note = container.documentsDirectory.appending(path: "note.txt")
        try Data(String(repeating: "Buy milk. ", count: 50).utf8).write(to: note)

        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 1)
        let result = try await tester.exportController.exportResources(progress: progress)
        #expect(progress.isFinished)
        #expect(await tester.findings == [])
        try container.empty()
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        #expect(try Data(contentsOf: note).count == 500)
        #expect(await tester.findings == [])
        let source = container.applicationSupportDirectory.appending(path: "source.txt")
        let told = String(decoding: try Data(contentsOf: source), as: UTF8.self)
        #expect(told == "googlePlay com.example.profile android 2.0")
    }
}

/// The program that these tests run.
enum SampleProgram {
    static let entitlements = URL(filePath: #filePath)
        .deletingLastPathComponent()
        .appending(path: "../Fixtures/ProfileMigration.entitlements")
        .standardizedFileURL
}

/// Where the trait looks for programs.
@Suite(.migration(executable: "ProfileMigration"))
struct ExecutableLookupTests {
    @Test
    func `takes the entitlements beside the program, which is beside the tests`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await AppMigrationTester(platform: .android)
        }
        #expect(error?.code == .entitlementInvalid)
        let place = Bundle.main.bundleURL.appending(path: "ProfileMigration.entitlements")
        #expect(error?.message.contains(place.resolvingSymlinksInPath().path) == true)
        let program = place.deletingPathExtension()
        #expect(FileManager.default.isExecutableFile(atPath: program.path))
    }
}

struct BuiltProgramTests {
    @Test func `is beside the tests, unless its path is absolute`() {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #expect(BuiltProgram.url(of: "/bin/true").path == "/bin/true")
        let place = tests.deletingLastPathComponent().path + "/ProfileMigration"
        #expect(BuiltProgram.url(of: "ProfileMigration").path == place)
    }
}
