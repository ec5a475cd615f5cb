// error: type 'Exporter' does not conform to protocol 'ResourcesExportingWithOptions'
import AppMigrationKit

struct Exporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }
}
