import AppMigrationKit
import ExtensionFoundation
import Foundation

@main
struct MemberVisibilityExtension: ResourcesExporting {
    var resourcesSizeEstimate: Int { get async { 1024 } }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { false }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try await archiver.appendItem(at: appContainer.containerRootDirectory)
        let group = FileManager.default.containerURL(
            forSecurityApplicationGroupIdentifier: "group.com.example.notes"
        )
        if let group { try await archiver.appendItem(at: group, pathInArchive: "group") }
    }
}
