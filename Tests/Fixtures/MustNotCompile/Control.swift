import AppMigrationKit
import Foundation

// The same as the sources beside this one, without their errors.

struct Exporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let root = appContainer.containerRootDirectory
        try await archiver.appendItem(at: root)
        try await Task { try await archiver.appendItem(at: root) }.value
    }
}

struct Importer: ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let container = appContainer
        var copy = container
        copy.documentsDirectory = url
        copy.applicationSupportDirectory = url
    }
}

func isSame(_ one: MigrationAppIdentifier, _ other: MigrationAppIdentifier) -> Bool {
    one.storeIdentifier == other.storeIdentifier && one.platform == other.platform
        && one.bundleIdentifier == other.bundleIdentifier
}

func makeContainer(at url: URL) throws -> MigrationDataContainer {
    try MigrationDataContainer(at: url)
}

func give(_ status: sending MigrationStatus) {
    Task { print(status) }
}
