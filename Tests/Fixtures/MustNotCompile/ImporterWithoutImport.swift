// error: type 'Importer' does not conform to protocol 'ResourcesImporting'
import AppMigrationKit
import Foundation

struct Importer: ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)
}
