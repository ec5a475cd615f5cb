import AppMigrationTesting
import Foundation
import MigrationHosting
import Testing

@testable import ProfileMigration

/// Imports of the tester, by the rules that they keep.
@Suite(.migration(of: ProfileMigration.self, bundleIdentifier: "com.example.profile"))
struct TesterImportTests {
    private let tested: ContainerUnderTest

    init() throws {
        tested = try ContainerUnderTest()
    }

    /// Makes a directory of resources as the sample extension reads them; the container's tree holds it.
    private func makeResources() throws -> URL {
        let root = tested.container.containerRootDirectory.deletingLastPathComponent()
        let resources = root.appending(path: "resources", directoryHint: .isDirectory)
        let documents = resources.appending(path: "Documents")
        try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
        try Data("new".utf8).write(to: documents.appending(path: "new.txt"))
        return resources
    }

    @Test
    func `rule 33: imports from a directory, out of which files may be moved`() async throws {
        let resources = try makeResources()
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.importResources(from: resources)
        #expect(tested.text(of: "new.txt") == "new")
        let moved = resources.appending(path: "Documents/new.txt")
        #expect(!FileManager.default.fileExists(atPath: moved.path))
        #expect(await tester.findings == [])
    }

    @Test
    func `rule 33: imports without emptying the container`() async throws {
        try tested.write("old", as: "old.txt")
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.importResources(from: makeResources())
        #expect(tested.text(of: "old.txt") == "old")
        #expect(tested.text(of: "new.txt") == "new")
    }

    @Test(.migration(of: FailingImporter.self))
    func `rule 33: a failure leaves the container as the extension left it`() async throws {
        try tested.write("old", as: "old.txt")
        let tester = try await AppMigrationTester(platform: .android)
        let error = await #expect(throws: NSError.self) {
            try await tester.importController.importResources(from: makeResources())
        }
        #expect(error?.domain == "Notes")
        #expect(error?.code == 7)
        #expect(error?.localizedDescription == "The notes are too old.")
        #expect(tested.text(of: "old.txt") == "old")
        #expect(tested.text(of: "half.txt") == "half")
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test
    func `rule 33: a request of nil is of the app itself, in the extension's own version`()
        async throws
    {
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.importResources(from: makeResources())
        #expect(tested.source == "googlePlay com.example.profile android 2.0")
    }

    @Test
    func `rule 33: a request of nil is of the tester's platform and its store`() async throws {
        let tester = try await AppMigrationTester(platform: .iOS)
        try await tester.importController.importResources(from: makeResources())
        #expect(tested.source == "appStore com.example.profile iOS 2.0")
    }

    @Test(.migration(of: ChangingVersion.self))
    func `decision: a request of nil has the version of the last export`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let result = try await tester.exportController.exportResources()
        #expect(result.exportProperties.version == "1 document")
        try tested.write("more", as: "more.txt")
        try await tester.importController.importResources(from: result.extractedResourcesURL)
        #expect(tested.text(of: "version.txt") == "1 document")
    }

    @Test(.migration(of: VersionImporter.self))
    func `decision: a request of nil has a version where the extension exports none`() async throws
    {
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.importResources(from: makeResources())
        #expect(tested.text(of: "version.txt") == "1.0")
    }

    @Test
    func `decision: the progress has the extension's counts and ends complete`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 3)
        try await tester.importController.importResources(
            from: makeResources(),
            progress: progress
        )
        #expect(progress.totalUnitCount == 100)
        #expect(progress.completedUnitCount == 100)
    }

    @Test
    func `the updates of the progress end with the import`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let progress = MigrationProgress()
        let updates = progress.updates
        try await tester.importController.importResources(
            from: makeResources(),
            progress: progress
        )
        var last: MigrationProgress.Update?
        for await update in updates { last = update }
        #expect(last?.fractionCompleted == 1)
    }

    @Test(.migration(of: VersionImporter.self))
    func `decision: the progress ends complete though the extension's never moves`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let progress = Progress(totalUnitCount: 3)
        try await tester.importController.importResources(
            from: makeResources(),
            progress: progress
        )
        #expect(progress.isFinished)
        #expect(await tester.findings.map(\.code).contains(.progressStill))
    }

    @Test(.migration(of: StoringExporter.self))
    func `decision: an extension that does not import is told the conformance`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let error = await #expect(throws: MigrationError.self) {
            try await tester.importController.importResources(from: makeResources())
        }
        #expect(error?.code == .extensionUnsuitable)
        #expect(error?.message == "StoringExporter does not conform to ResourcesImporting")
    }

    @Test
    func `refuses a directory that is not there`() async throws {
        let tester = try await AppMigrationTester(platform: .android)
        let error = await #expect(throws: MigrationError.self) {
            try await tester.importController.importResources(
                from: makeResources().appending(path: "missing")
            )
        }
        #expect(error?.code == .invalidOption)
    }
}

/// Names its version by the contents of the container.
struct ChangingVersion: SampleExporting, ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String {
        let path = appContainer.documentsDirectory.path
        let count = (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
        return "\(count + 1) document"
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let place = appContainer.documentsDirectory.appending(path: "version.txt")
        try Data(request.sourceVersion.utf8).write(to: place)
        resourcesImportProgress.completedUnitCount = 1
    }
}
