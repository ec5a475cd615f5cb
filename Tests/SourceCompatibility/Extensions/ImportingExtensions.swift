import AppMigrationKit
import Foundation

/// An extension that moves the resources into the documents, and counts the files.
struct MovingImporter: ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 0)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let source = request.sourceAppIdentifier
        guard source.storeIdentifier == .googlePlay, source.platform == .android else {
            throw CocoaError(.fileReadUnsupportedScheme)
        }
        let files = try FileManager.default.contentsOfDirectory(
            at: url,
            includingPropertiesForKeys: nil
        )
        resourcesImportProgress.totalUnitCount = Int64(files.count)
        for file in files {
            let place = appContainer.documentsDirectory.appending(path: file.lastPathComponent)
            try FileManager.default.moveItem(at: file, to: place)
            resourcesImportProgress.completedUnitCount += 1
        }
    }
}

/// An extension whose container is the test's, as a unit test of an importer makes it.
struct OwnContainerImporter: ResourcesImporting {
    var appContainer: MigrationDataContainer
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    init() {
        fatalError("made with a container")
    }

    init(appContainer: MigrationDataContainer) {
        self.appContainer = appContainer
    }

    func importResources(at url: URL, request: ResourcesImportRequest) throws {
        var container = appContainer
        container.documentsDirectory = url
        container.applicationSupportDirectory = url
        resourcesImportProgress.completedUnitCount = 1
    }
}

/// An extension that does both, and shares an app group with its app.
struct NotesMigration: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 100)

    var resourcesSizeEstimate: Int { 1 << 20 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    private var group: URL? {
        FileManager.default.containerURL(
            forSecurityApplicationGroupIdentifier: "group.com.example.notes"
        )
    }

    func exportResources(to archiver: ResourcesArchiver, request: MigrationRequest) async throws {
        if let group { try await archiver.appendItem(at: group, pathInArchive: "group") }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        if let group { try FileManager.default.removeItem(at: group) }
    }
}
