import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import Testing
import TestSupport

/// An app's extension that runs in its host's process.
@Suite(.scratchDirectory)
struct InProcessTests {
    @Test
    func `exports what it appends and imports by moving it`() async throws {
        let places = try Places()
        try (places.source / "Documents").makeDirectory()
        try (places.source / "Documents/a.txt").write("a")
        try (places.source / "Documents/deep").makeDirectory()
        try (places.source / "Documents/deep/b.txt").write("b")
        let exported = try await MigrationHost().exportContainer(
            MigrationDataContainer(atPath: places.source.bytes),
            to: .file(path: places.archive.bytes, replacingExisting: false),
            using: .inProcess(MovingExtension())
        )
        #expect(exported.totals.files == 2)
        #expect(exported.header.resourcesVersion == "7")
        #expect(exported.appExtension?.name == "MovingExtension")
        #expect(exported.appExtension?.findings == [])
        let imported = try await MigrationHost().importArchive(
            .file(path: places.archive.bytes),
            into: MigrationDataContainer(atPath: places.destination.bytes),
            using: .inProcess(MovingExtension())
        )
        #expect(imported.appExtension?.findings == [])
        let notes = URL(filePath: places.destination.url.path + "/Documents/notes")
        #expect(try String(contentsOf: notes.appending(path: "a.txt"), encoding: .utf8) == "a")
        #expect(try String(contentsOf: notes.appending(path: "deep/b.txt"), encoding: .utf8) == "b")
    }
}

struct MovingExtension: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)
    var resourcesSizeEstimate: Int { 2 }
    var resourcesVersion: String { "7" }
    var resourcesCompressible: Bool { true }

    func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest)
        async throws
    {
        let documents = appContainer.documentsDirectory
        try await archiver.appendItem(at: documents, pathInArchive: "content/notes")
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let notes = appContainer.documentsDirectory.appending(path: "notes")
        try FileManager.default.moveItem(at: url.appending(path: "content/notes"), to: notes)
        resourcesImportProgress.completedUnitCount = 1
    }
}
