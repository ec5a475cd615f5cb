import AppMigrationKit
import Foundation

@main
struct MinimalExtension: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesSizeEstimate: Int { 1024 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try await archiver.appendItem(at: appContainer.documentsDirectory)
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        resourcesImportProgress.completedUnitCount = 1
    }
}
