// error: sending value of non-Sendable type '() async throws -> ()' risks causing data races
import AppMigrationKit
import Foundation

struct Exporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let root = appContainer.containerRootDirectory
        let task = Task { try await archiver.appendItem(at: root) }
        try await archiver.appendItem(at: root)
        try await task.value
    }
}
