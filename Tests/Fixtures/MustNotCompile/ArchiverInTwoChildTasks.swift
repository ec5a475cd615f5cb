// error: sending 'archiver' risks causing data races
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
        async let first: Void = archiver.appendItem(at: root)
        async let second: Void = archiver.appendItem(at: root)
        _ = try await (first, second)
    }
}
