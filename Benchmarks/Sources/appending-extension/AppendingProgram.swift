import AppMigrationKit
import AppendingExtension
import ExtensionFoundation
import Foundation

@main
struct AppendingProgram: ResourcesExporting {
    private let appending = AppendingExtension()

    var resourcesSizeEstimate: Int { appending.resourcesSizeEstimate }

    var resourcesVersion: String { appending.resourcesVersion }

    var resourcesCompressible: Bool { appending.resourcesCompressible }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try await appending.exportResources(to: archiver, request: request)
    }
}
