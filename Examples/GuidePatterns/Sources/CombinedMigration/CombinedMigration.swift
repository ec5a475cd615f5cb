import AppMigrationKit
import Foundation

/// One extension for both directions, which checks for files by `url.path()`.
@main
struct CombinedMigration: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 3)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        (documents + [state]).reduce(0) { $0 + size(of: $1) }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        for item in documents where FileManager.default.fileExists(atPath: item.path()) {
            try await archiver.appendItem(at: item)
        }
        try await archiver.appendItem(at: state, pathInArchive: "state.db")
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        for item in documents + [state] {
            let imported = url.appending(path: item.lastPathComponent)
            if FileManager.default.fileExists(atPath: imported.path()) {
                try FileManager.default.moveItem(at: imported, to: item)
            }
            resourcesImportProgress.completedUnitCount += 1
        }
    }

    private var documents: [URL] {
        ["profile.json", "media"].map { appContainer.documentsDirectory.appending(path: $0) }
    }

    /// Its `path()` leads nowhere, on iOS too: Application Support has a space.
    private var state: URL {
        appContainer.applicationSupportDirectory.appending(path: "state.db")
    }

    private func size(of url: URL) -> Int {
        let files = FileManager.default
        var sum = 0
        for path in (files.subpaths(atPath: url.path()) ?? []).map({ url.appending(path: $0) })
            + [url]
        {
            let values = try? path.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            if values?.isRegularFile == true { sum += values?.fileSize ?? 0 }
        }
        return sum
    }
}
