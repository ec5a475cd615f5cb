import AppMigrationKit
import Foundation

/// The data that a person may leave out.
enum ExportChoice: String, CaseIterable, Sendable {
    case withoutDrafts
}

/// Exports the data that the options of the request ask for.
@main
struct SelectiveMigration: ResourcesExportingWithOptions, ResourcesImporting {
    typealias OptionsType = ExportChoice

    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int { directories(all: true).reduce(0) { $0 + size(of: $1) } }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<ExportChoice>
    ) async throws {
        for directory in directories(all: request.options[.withoutDrafts] == nil) {
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(
                atPath: directory.path(),
                isDirectory: &isDirectory
            )
            guard isThere, isDirectory.boolValue else { continue }
            try await archiver.appendItem(
                at: directory,
                pathInArchive: directory.lastPathComponent
            )
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let imported = try FileManager.default.contentsOfDirectory(
            at: url,
            includingPropertiesForKeys: nil
        )
        for directory in imported {
            let name = directory.lastPathComponent
            try FileManager.default.moveItem(
                at: directory,
                to: appContainer.documentsDirectory.appending(path: name)
            )
        }
        resourcesImportProgress.completedUnitCount = 1
    }

    private func directories(all: Bool) -> [URL] {
        (all ? ["letters", "drafts"] : ["letters"]).map { name in
            appContainer.documentsDirectory.appending(path: name)
        }
    }

    private func size(of directory: URL) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path())) ?? []
        return names.reduce(0) { sum, name in
            let file = directory.appending(path: name)
            return sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
        }
    }
}
