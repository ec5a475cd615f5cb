// error: type 'Importer' does not conform to protocol 'ResourcesImporting'
import AppMigrationKit
import Foundation

struct Importer: ResourcesImporting {
    func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}
