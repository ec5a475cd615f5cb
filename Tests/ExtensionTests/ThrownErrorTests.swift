import ExtensionFoundation
import Foundation
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// The parts of an extension's error that its app and its tests get.
@Suite(.scratchDirectory)
struct ThrownErrorTests {
    /// The status that the app finds at its launch after an import by `script`.
    private func persisted(_ script: String, _ hosting: Hosting) async throws -> NSError {
        let stage = try Stage()
        try await stage.makeArchive(script)
        try stage.destination.makeDirectory()
        await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        return try persisted(in: stage.container(at: stage.destination))
    }

    private func persisted(in container: MigrationDataContainer) throws -> NSError {
        guard case .failure(let error)? = try container.importRecord()?.outcome else {
            throw CallFailure("no failure is recorded")
        }
        return error.error
    }

    /// Has a tester import by `script`, and returns what it throws.
    private func thrown(_ script: String, _ hosting: Hosting) async throws -> any Error {
        let stage = try Stage()
        try stage.destination.makeDirectory()
        let resources = stage.root / "resources"
        try resources.makeDirectory()
        try (resources / "script").write(script)
        let container = try MigrationDataContainer(
            atPath: stage.destination,
            bundleIdentifier: Stage.identifier
        )
        let tested = ExtensionUnderTest(stage.scripted(hosting), container: container)
        return try await tested.perform {
            let tester = try await AppMigrationTester(platform: .android)
            do {
                try await tester.importController.importResources(from: resources.url)
            } catch {
                let controller = try await tester.importController
                try await controller.registerImportCompletion(with: .failure(error))
                let status = try persisted(in: container)
                // The tester throws the error that the status shows.
                #expect(PersistedError(status) == PersistedError(error))
                return error
            }
            throw CallFailure("the import succeeded")
        }
    }

    private func expectEverything(of error: NSError) throws {
        #expect(error.domain == "com.example.notes")
        #expect(error.code == 9)
        #expect(error.localizedDescription == "The notes did not arrive.")
        #expect(error.localizedFailureReason == "The store is damaged.")
        #expect(error.localizedRecoverySuggestion == "Migrate again.")
        let values = error.userInfo
        #expect(values[NSHelpAnchorErrorKey] as? String == "migration")
        let beneath = try #require(values[NSUnderlyingErrorKey] as? NSError)
        #expect(beneath.domain == "store" && beneath.code == 14)
        #expect(beneath.localizedDescription == "The store can't be opened.")
        let innermost = try #require(beneath.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(innermost.domain == "disk" && innermost.code == 5)
        let several = try #require(values["NSMultipleUnderlyingErrorsKey"] as? [NSError])
        #expect(several.map(\.domain) == ["disk", "store"])
        #expect(values["text"] as? String == "notes")
        #expect(values["count"] as? Int == 3)
        #expect(values["share"] as? Double == 0.25)
        #expect(values["infinite"] as? Double == .infinity)
        #expect(values["isOld"] as? Bool == true)
        #expect(values["when"] as? Date == Date(timeIntervalSinceReferenceDate: 7.25))
        #expect(values["bytes"] as? Data == Data([0, 255]))
        #expect(values["names"] as? [String] == ["a", "b"])
        let nested = try #require(values["nested"] as? [String: Any])
        let list = try #require(nested["list"] as? [Any])
        #expect(list.first as? Int == 1)
        #expect((list.last as? [String: Any])?["deep"] as? Bool == false)
        for key in ["url", "mixed", "huge"] { #expect(values[key] == nil, "\(key)") }
    }

    @Test(arguments: Hosting.allCases)
    func `rule 22: the status has all that property lists can hold of an error`(
        _ hosting: Hosting
    ) async throws {
        try expectEverything(of: try await persisted("throw-all", hosting))
    }

    @Test(arguments: Hosting.allCases)
    func `rule 33: a tester throws the extension's own error`(_ hosting: Hosting) async throws {
        try expectEverything(of: try await thrown("throw-all", hosting) as NSError)
    }

    @Test(arguments: Hosting.allCases, [false, true])
    func `rule 22: a LocalizedError is kept in its own words`(
        _ hosting: Hosting,
        _ isTester: Bool
    ) async throws {
        let error: any Error =
            try await isTester
            ? thrown("throw-localized", hosting) : persisted("throw-localized", hosting)
        let bridged = error as NSError
        #expect(bridged.domain.hasSuffix("ScriptedFailure"))
        #expect(bridged.localizedDescription == "The notes are too old.")
        #expect(bridged.localizedFailureReason == "They are of version 1.")
        #expect(bridged.localizedRecoverySuggestion == "Open them in the old app first.")
        #expect(bridged.userInfo[NSHelpAnchorErrorKey] as? String == "old-notes")
    }

    @Test(arguments: Hosting.allCases)
    func `a report shows a LocalizedError in its own words`(_ hosting: Hosting) async throws {
        let stage = try Stage("throw-localized")
        let error = try await stage.failure(of: stage.scripted(hosting))
        #expect(error.description.hasSuffix(" failed: The notes are too old."))
    }

    @Test(arguments: Hosting.allCases, [false, true])
    func `rule 22: a cancellation that nobody asked for is an NSError`(
        _ hosting: Hosting,
        _ isTester: Bool
    ) async throws {
        let error: any Error =
            try await isTester
            ? thrown("throw-cancellation", hosting) : persisted("throw-cancellation", hosting)
        let bridged = error as NSError
        #expect(bridged.domain == "Swift.CancellationError")
        #expect(bridged.localizedDescription == "the operation was cancelled")
    }

    @Test
    func `a status has neither what a crash printed nor a path of the host`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("print a secret of the developer\nkill 6")
        try stage.destination.makeDirectory()
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted())
        }
        #expect(error?.printedLines == ["a secret of the developer"])
        #expect(error?.description.contains("a secret of the developer") ?? false)
        let status = try persisted(in: stage.container(at: stage.destination))
        #expect(status.localizedDescription.contains("signal 6"))
        #expect(!"\(status.userInfo)".contains("secret"))
        let file = try (stage.destination / ".migration/import-attempt.json").contents()
        #expect(!String(decoding: file, as: UTF8.self).contains(stage.root.url.path))
    }

    @Test
    func `a status of the host's own failure names no path of the host`() throws {
        let path: BytePath = "/srv/containers/1"
        let cause = MigrationError(.outputFailed, "the group can't be read", path: path)
        let error = MigrationError(.containerInvalid, "no import", path: path, cause: cause)
        #expect(error.description.contains("/srv/"))
        #expect(PersistedError(error).description == "no import: the group can't be read")
        #expect(!"\(PersistedError(error).error.userInfo)".contains("/srv/"))
    }

    @Test
    func `an import that the extension can't do records no failure`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("")
        var hosted = MigrationExtension.inProcess(ExportingOnly())
        hosted.entitlements = stage.entitlements.url
        let exporting = hosted
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(exporting)
        }
        #expect(error?.code == .extensionUnsuitable)
        #expect(!stage.destination.exists)
        // The status that an earlier import left for the app stays.
        try await stage.importArchive(stage.scripted())
        let earlier = try stage.container(at: stage.destination).importRecord()
        #expect(earlier?.outcome == .success)
        var replacing = ImportOptions()
        replacing.replacesExisting = true
        let options = replacing
        await #expect(throws: MigrationError.self) {
            try await stage.importArchive(exporting, options: options)
        }
        #expect(try stage.container(at: stage.destination).importRecord() == earlier)
    }
}

/// An extension that can't import.
private struct ExportingOnly: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1" }
    var resourcesCompressible: Bool { true }

    nonisolated init() {}

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {}
}
