import AppMigrationTesting
import ExtensionFoundation
import Foundation
import MigrationHosting
import Synchronization
import Testing

@testable import ProfileMigration

/// The resources that a person granted to an extension, in tests of it.
@Suite(
    .migration(
        of: ProfileMigration.self,
        grants: [GrantedResource(name: "data", url: URL(filePath: "/var"))]
    )
)
struct GrantTraitTests {
    @Test func `a test and its extension find what was granted`() async throws {
        let resource = try #require(GrantedResource.all.first)
        #expect(resource.name == "data")
        #expect(resource.url.startAccessingSecurityScopedResource())
        resource.url.stopAccessingSecurityScopedResource()
        _ = try await AppMigrationTester(platform: .android)
    }
}

/// The container and groups that the trait gives to each test.
@Suite(.migration(of: ProfileMigration.self, applicationGroups: ["group.a", "group/b"]))
struct MigrationTraitTests {
    private static let seen = Mutex<Set<String>>([])

    private var context: MigrationTestContext {
        get throws { try #require(MigrationTestContext.current) }
    }

    private func names(in directory: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
    }

    @Test(arguments: 0..<3)
    func `gives each case a fresh container`(_ number: Int) throws {
        let container = try context.container
        let root = container.containerRootDirectory
        #expect(Self.seen.withLock { $0.insert(root.path).inserted })
        let fresh = [
            "Documents", "Library", "Library/Application Support", "Library/Caches",
            "Library/Preferences", "tmp",
        ]
        #expect(try names(in: root) == fresh)
        #expect(container.bundleIdentifier == "com.example.app")
        try Data("old".utf8).write(to: container.documentsDirectory.appending(path: "old"))
    }

    @Test
    func `empties a container to what a fresh one is`() async throws {
        let container = try context.container
        let fresh = try names(in: container.containerRootDirectory)
        let deep = container.documentsDirectory.appending(path: "a/b")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        try Data("old".utf8).write(to: deep.appending(path: "old"))
        let tester = try await AppMigrationTester(platform: .android)
        try await tester.importController.registerImportCompletion(with: .success)
        try container.empty()
        #expect(try names(in: container.containerRootDirectory) == fresh)
        #expect(MigrationStatus.importStatus == nil)
    }

    @Test
    func `makes app groups that a test and its extension reach alike`() throws {
        let groups = try context.applicationGroups
        #expect(groups.count == 2)
        #expect(Set(groups.values).count == 2)
        for identifier in ["group.a", "group/b"] {
            let url = FileManager.default
                .containerURL(forSecurityApplicationGroupIdentifier: identifier)
            #expect(url == groups[identifier])
            #expect(try names(in: #require(url)) == [])
        }
        #expect(
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.c")
                == nil
        )
    }

    @Test
    func `gives an extension that the test itself makes the same container`() async throws {
        let extensionOfTest = await MainActor.run { ProfileMigration() }
        let root = try context.container.containerRootDirectory
        #expect(extensionOfTest.appContainer.containerRootDirectory == root)
    }

    @Test(.migration(of: ProfileMigration.self, bundleIdentifier: "org.example.inner"))
    func `a test's own trait stands before that of its suite`() async throws {
        let context = try context
        #expect(context.container.bundleIdentifier == "org.example.inner")
        #expect(context.applicationGroups.isEmpty)
        #expect(
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.a")
                == nil
        )
    }

    @Test
    func `removes everything after a test, whatever became of it`() async throws {
        struct Failure: Error {}
        let trait: MigrationTrait = .migration(of: ProfileMigration.self)
        let test = try #require(Test.current)
        let place = Mutex<String?>(nil)
        await #expect(throws: Failure.self) {
            try await trait.provideScope(for: test, testCase: Test.Case.current) {
                let root = MigrationTestContext.current?.container.containerRootDirectory
                place.withLock { $0 = root?.deletingLastPathComponent().path }
                let tester = try await AppMigrationTester(platform: .android)
                _ = try await tester.exportController.exportResources()
                throw Failure()
            }
        }
        let path = try #require(place.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Suite struct Inner {
        @Test
        func `holds for suites within a suite`() throws {
            #expect(try #require(MigrationTestContext.current).applicationGroups.count == 2)
        }
    }
}

/// Tests without a trait.
@Suite struct NoMigrationTraitTests {
    @Test
    func `there is no context without a trait`() {
        #expect(MigrationTestContext.current == nil)
    }
}
