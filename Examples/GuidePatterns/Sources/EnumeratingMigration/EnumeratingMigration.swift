import AppMigrationKit
import Foundation

/// Walks the container with an enumerator, and cuts paths by `replacingOccurrences(of:with:)`.
@main
struct EnumeratingMigration: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 0)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        files(in: appContainer.documentsDirectory).reduce(0) { sum, file in
            sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let documents = appContainer.documentsDirectory
        for file in files(in: documents) {
            let path = file.path().replacingOccurrences(of: documents.path(), with: "")
            try await archiver.appendItem(at: file, pathInArchive: "documents" + path)
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let imported = url.appending(path: "documents", directoryHint: .notDirectory)
        let all = files(in: imported)
        resourcesImportProgress.totalUnitCount = Int64(all.count)
        for file in all {
            let path = file.path().replacingOccurrences(of: imported.path(), with: "")
            let destination = appContainer.documentsDirectory.appending(path: path)
            try FileManager.default.createDirectory(
                at: destination.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.moveItem(at: file, to: destination)
            resourcesImportProgress.completedUnitCount += 1
        }
    }

    private func files(in directory: URL) -> [URL] {
        let enumerator = FileManager.default.enumerator(
            at: directory,
            includingPropertiesForKeys: [.isRegularFileKey]
        )
        var files: [URL] = []
        while let file = enumerator?.nextObject() as? URL {
            let values = try? file.resourceValues(forKeys: [.isRegularFileKey])
            if values?.isRegularFile == true { files.append(file) }
        }
        return files
    }
}
