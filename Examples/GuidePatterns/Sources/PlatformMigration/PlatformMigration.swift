import AppMigrationKit
import Foundation

/// Gives each platform the files that the app there can use.
@main
struct PlatformMigration: ResourcesExporting, ResourcesImporting {
    enum Failure: Error {
        case unknownPlatform(String)
    }

    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        [shared, settings].reduce(0) { sum, file in
            sum + ((try? Data(contentsOf: file).count) ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try await archiver.appendItem(at: shared, pathInArchive: "shared/catalog.json")
        switch request.destinationPlatform {
        case .android: try await archiver.appendItem(at: settings, pathInArchive: "prefs.json")
        default: try await archiver.appendItem(at: settings, pathInArchive: "settings.json")
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let name: String
        switch request.sourceAppIdentifier.platform {
        case .android: name = "prefs.json"
        case .iOS: name = "settings.json"
        case let platform: throw Failure.unknownPlatform(platform.rawValue)
        }
        let imported = url.resolvingSymlinksInPath()
        let files = FileManager.default
        try files.moveItem(at: imported.appending(path: "shared/catalog.json"), to: shared)
        try files.moveItem(at: imported.appending(path: name), to: settings)
        resourcesImportProgress.completedUnitCount = 1
    }

    private var shared: URL {
        appContainer.documentsDirectory.standardizedFileURL.appending(path: "catalog.json")
    }

    private var settings: URL {
        appContainer.containerRootDirectory.resolvingSymlinksInPath()
            .appending(path: "Library/Preferences/settings.json")
    }
}
