// error: type 'Exporter' does not conform to protocol 'ResourcesExportingWithOptions'
import AppMigrationKit

struct Exporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {}
}
