import Foundation
import Glibc
import MigrationArchive
import MigrationContainers
import MigrationContract
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ImportRefusalTests {
    private func refusal(
        _ places: Places,
        replacing: Bool = false,
        identifier: String? = nil
    ) async -> MigrationError.Code? {
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: replacing, identifier: identifier)
        }
        return error?.code
    }

    @Test func `refuses a container of another app, and does not make one`() async throws {
        let places = try await Places.withSmallArchive()
        #expect(await refusal(places, identifier: "com.example.other") == .identifierMismatch)
        #expect(!places.destination.exists)
        let old = try places.makeOldDestination()
        #expect(
            await refusal(places, replacing: true, identifier: "com.example.other")
                == .identifierMismatch
        )
        #expect(try TreeSnapshot(of: places.destination).differences(from: old) == [])
    }

    @Test(
        arguments: [
            "file", "Documents/deep/file", "Documents/link", "Library/Caches/file", "tmp/file",
        ] as [BytePath]
    )
    func `refuses a container that holds data`(_ path: BytePath) async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        var directory = places.destination
        for name in path.bytes.split(separator: UInt8(ascii: "/")).dropLast() {
            directory = directory / BytePath([UInt8](name))
            try directory.makeDirectory()
        }
        if path == "Documents/link" {
            try (places.destination / path).makeSymbolicLink(to: "nowhere")
        } else {
            try (places.destination / path).write("")
        }
        let old = try TreeSnapshot(of: places.destination)
        #expect(await refusal(places) == .containerHoldsData)
        #expect(try TreeSnapshot(of: places.destination).differences(from: old) == [])
        #expect(try places.destinationContainer.importRecord() == nil)
    }

    @Test func `gives the remedy of a refusal where the bundle would be new`() async throws {
        let places = try await Places.withSmallArchive(bundle: "destination.xcappdata")
        var options = ImportOptions()
        options.importer = "TEAM.com.example.other"
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(options: options)
        }
        #expect(error?.remedy == .giveRulesOrDropImporter)
        #expect(error?.bytePath == places.destination / "AppData")
        #expect(!places.destination.exists)
    }

    @Test func `refuses what is no directory`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.write("a file")
        #expect(await refusal(places, replacing: true) == .containerInvalid)
        #expect(try places.destination.contents() == Data("a file".utf8))
        try places.destination.removeFile()
        try (places.root / "elsewhere").makeDirectory()
        try places.destination.makeSymbolicLink(to: "elsewhere")
        #expect(await refusal(places, replacing: true) == .containerInvalid)
        #expect(try (places.root / "elsewhere").names() == [])
        try places.destination.removeFile()
        try places.destination.makeSymbolicLink(to: "nowhere")
        #expect(await refusal(places) == .containerInvalid)
        #expect(!(places.root / "nowhere").exists)
    }

    @Test func `refuses a directory that becomes a link before the import`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        let container = try places.destinationContainer
        try places.destination.rename(to: places.root / "elsewhere")
        try places.destination.makeSymbolicLink(to: "elsewhere")
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().import(
                .file(path: places.archive),
                into: container
            )
        }
        #expect(error?.code == .containerInvalid)
        #expect(try (places.root / "elsewhere").names() == [])
    }

    @Test func `refuses a container whose parent is missing`() async throws {
        let places = try await Places.withSmallArchive()
        let error = #expect(throws: MigrationError.self) {
            try MigrationDataContainer(atPath: places.root / "missing/container")
        }
        #expect(error?.code == .containerInvalid)
    }

    @Test func `imports below a parent that is a link`() async throws {
        let places = try await Places.withSmallArchive()
        try (places.root / "real").makeDirectory()
        try (places.root / "linked").makeSymbolicLink(to: "real")
        _ = try await MigrationHost().import(
            .file(path: places.archive),
            into: MigrationDataContainer(atPath: places.root / "linked/container")
        )
        #expect(try (places.root / "real").names() == ["container"])
        #expect(try (places.root / "linked").linkTarget() == [UInt8]("real".utf8))
        let expected = try TreeSnapshot(of: places.source)
        let restored = try places.contents(of: places.root / "real/container")
        #expect(restored.differences(from: expected) == [])
    }

    @Test func `replaces all old data where that was asked for`() async throws {
        let places = try await Places.withVariedArchive()
        try places.makeOldDestination()
        try places.destination.setMode(0o710)
        let report = try await places.importArchive(replacing: true)
        #expect(report.replacedData)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        let mode = try TreeSnapshot(of: places.root).nodes["destination"]?.mode
        #expect(mode == 0o710)
    }

    @Test func `tells an archive that can't be opened from one that is damaged`() async throws {
        let places = try Places()
        let error = await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        #expect(error?.code == .inputFailed)
        #expect(!places.destination.exists)
    }

    /// An importer that must not be asked for anything.
    private struct Unasked: ContainerImporter {
        var omissions: [Omission] { [] }

        func check(_ container: MigrationDataContainer) throws { throw CallFailure("check") }

        func check(_ header: ArchiveHeader?, from source: ImportSource) throws {}

        func identifier(for container: MigrationDataContainer) throws -> String? { nil }

        func ask(in staged: StagedImport) throws {}

        func fill<Extracted>(
            _ staged: StagedImport,
            from header: ArchiveHeader?,
            of source: ImportSource,
            extracting extract: (OpenFile) throws -> Extracted
        ) throws -> (Extracted, any Sendable) { throw CallFailure("fill") }
    }

    @Test func `refuses to restore further metadata where an importer places the data`()
        async throws
    {
        let places = try await Places.withSmallArchive()
        let container = try places.destinationContainer
        var options = ImportOptions()
        await #expect(throws: CallFailure.self) {
            try await MigrationHost().run(
                .file(path: places.archive),
                into: container,
                by: Unasked(),
                options: options,
                progress: nil
            )
        }
        options.extraMetadata = .owners
        let refused = options
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().run(
                .file(path: places.archive),
                into: container,
                by: Unasked(),
                options: refused,
                progress: nil
            )
        }
        #expect(error?.code == .invalidOption && error?.remedy == .restoreNoExtraMetadata)
        #expect(!places.destination.exists)
    }
}
