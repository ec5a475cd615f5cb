import ExtensionFoundation
import Foundation
import Glibc
@testable import MigrationContract
import TestSupport
import Testing

@Suite(.scratchDirectory) struct ExtensionContextTests {
    private struct Extension: AppMigrationExtension {
        var configuration: some AppExtensionConfiguration { NoConfiguration() }
    }

    /// Nothing here runs the extension by its `main()`.
    private struct NoConfiguration: AppExtensionConfiguration {
        nonisolated func accept(connection: NSXPCConnection) -> Bool { false }
    }

    private static let group = "group.com.example.notes"

    private static func makeContext(_ name: String) throws -> ExtensionContext {
        let root = try BytePath.scratch / BytePath(stringLiteral: name)
        try root.makeDirectory()
        return ExtensionContext(
            container: try MigrationDataContainer(at: root.url, bundleIdentifier: name),
            groups: [group: root.url.appending(path: "group")],
            temporaryDirectory: root.url.appending(path: "tmp")
        )
    }

    private static var groupDirectory: URL? {
        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
    }

    @MainActor
    @Test func `gives an extension in this process the container of its own task`() async throws {
        let hosted = Extension()
        for name in ["one", "two"] {
            let context = try Self.makeContext(name)
            try await ExtensionContext.$current.withValue(context) {
                #expect(hosted.appContainer.bundleIdentifier == name)
                #expect(Self.groupDirectory == context.groups[Self.group])
                async let child = hosted.appContainer.bundleIdentifier
                #expect(await child == name)
                let active = try ExtensionContext.active
                #expect(active?.temporaryDirectory == context.temporaryDirectory)
            }
        }
        #expect(ExtensionContext.hosted == nil)
        #expect(Self.groupDirectory == nil)
    }

    @Test func `grants no group but those of the session`() throws {
        try ExtensionContext.$current.withValue(Self.makeContext("one")) {
            let other = FileManager.default.containerURL(
                forSecurityApplicationGroupIdentifier: "group.com.example.other"
            )
            #expect(other == nil)
        }
    }

    @Test func `gives an extension in a process of its own what was installed`() async {
        await #expect(processExitsWith: .success) {
            setenv("MIGRATION_CONTAINER", "/var/empty/missing", 1)
            let directory = FileManager.default.temporaryDirectory
            let container = try MigrationDataContainer(at: directory, bundleIdentifier: "installed")
            let context = ExtensionContext(
                container: container,
                groups: [Self.group: directory],
                temporaryDirectory: nil
            )
            ExtensionContext.install(context)
            let hosted = await Extension()
            #expect(hosted.appContainer.bundleIdentifier == "installed")
            let detached = Task.detached { hosted.appContainer.bundleIdentifier }
            #expect(await detached.value == "installed")
            #expect(Self.groupDirectory == directory)
        }
    }

    @Test func `prefers the task's context to the process's and to the environment's`() async {
        await #expect(processExitsWith: .success) {
            let directory = FileManager.default.temporaryDirectory
            func context(_ name: String) throws -> ExtensionContext {
                ExtensionContext(
                    container: try MigrationDataContainer(at: directory, bundleIdentifier: name),
                    groups: [:],
                    temporaryDirectory: nil
                )
            }
            setenv("MIGRATION_CONTAINER", directory.path, 1)
            let named = try #require(try ExtensionContext.active)
            #expect(named.container.bundleIdentifier == directory.lastPathComponent)
            #expect(named.groups.isEmpty)
            ExtensionContext.install(try context("installed"))
            #expect(try ExtensionContext.active?.container.bundleIdentifier == "installed")
            try ExtensionContext.$current.withValue(try context("current")) {
                let active = try ExtensionContext.active
                #expect(active?.container.bundleIdentifier == "current")
            }
        }
    }

    @Test func `says that the environment names no container`() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            setenv("MIGRATION_CONTAINER", "/dev/null", 1)
            #expect(throws: MigrationError.self) { try ExtensionContext.active }
            _ = await Extension().appContainer
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("MIGRATION_CONTAINER names no container"))
        #expect(text.contains("the container isn't a directory"))
    }
}
