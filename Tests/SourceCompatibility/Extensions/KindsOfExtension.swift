import AppMigrationKit
import ExtensionFoundation
import Foundation

final class FinalClassExtension: ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    init() {}

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}

class OpenClassExtension: ResourcesImporting, @unchecked Sendable {
    var resourcesImportProgress: Progress { progress }
    private let progress = Progress(totalUnitCount: 1)

    required init() {}

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}

@MainActor
final class MainActorExtension: ResourcesExporting {
    private(set) var exports = 0

    nonisolated var resourcesVersion: String { "1.0" }
    nonisolated var resourcesCompressible: Bool { true }
    var resourcesSizeEstimate: Int { get async { exports } }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        exports += 1
    }
}

actor ActorExtension: ResourcesExporting, ResourcesImporting {
    nonisolated let resourcesImportProgress = Progress(totalUnitCount: 1)
    nonisolated var resourcesVersion: String { "1.0" }
    nonisolated var resourcesCompressible: Bool { true }
    var resourcesSizeEstimate: Int { imports }
    private var imports = 0

    init() {}

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        try await archiver.appendItem(at: appContainer.containerRootDirectory)
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        imports += 1
    }
}

enum EnumerationExtension: ResourcesImporting {
    case only

    private static let progress = Progress(totalUnitCount: 1)

    var resourcesImportProgress: Progress { Self.progress }

    init() {
        self = .only
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}

/// An extension that adopts no sub-protocol: it does nothing, and compiles.
struct IdleExtension: AppMigrationExtension {}

/// Names its extension point, as the templates of newer SDKs do.
struct BoundExtension: ResourcesImporting {
    @AppExtensionPoint.Bind
    var extensionPoint: AppExtensionPoint {
        AppExtensionPoint.Identifier(host: "com.example.notes", name: "migration")
    }

    let resourcesImportProgress = Progress(totalUnitCount: 1)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}
