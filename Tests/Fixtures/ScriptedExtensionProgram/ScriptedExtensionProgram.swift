import AppMigrationKit
import ExtensionFoundation
import Foundation
import ScriptedExtension

/// The scripted extension as a program of its own.
@main
struct ScriptedExtensionProgram: ResourcesExportingWithOptions, ResourcesImporting {
    typealias OptionsType = ScriptedOption

    private let scripted = ScriptedMigration()

    var resourcesSizeEstimate: Int {
        get async { await scripted.resourcesSizeEstimate }
    }

    var resourcesVersion: String { scripted.resourcesVersion }

    var resourcesCompressible: Bool { scripted.resourcesCompressible }

    var resourcesImportProgress: Progress { scripted.resourcesImportProgress }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<ScriptedOption>
    ) async throws {
        try await scripted.exportResources(to: archiver, request: request)
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        try await scripted.importResources(at: url, request: request)
    }
}
