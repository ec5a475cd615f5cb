import AppMigrationKit
import Foundation
import GuideModel

/// Follows the documents to the letter: a new progress for each reading, its own error type, and
/// paths in the archive that end with a slash.
@main
struct DocumentedMigration: ResourcesExportingWithOptions, ResourcesImporting {
    typealias OptionsType = MigrationDefaultSupportedOptions

    var resourcesImportProgress: Progress {
        Progress(totalUnitCount: 100)
    }

    var resourcesVersion: String { "2.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        ["photos/one.jpg", "photos/two.jpg"].reduce(0) { sum, path in
            let file = appContainer.documentsDirectory.appending(path: path)
            let values = try? file.resourceValues(forKeys: [.fileSizeKey])
            return sum + (values?.fileSize ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<MigrationDefaultSupportedOptions>
    ) async throws {
        let photos = appContainer.documentsDirectory.appending(path: "photos")
        try await archiver.appendItem(at: photos, pathInArchive: "media/")
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let progress = resourcesImportProgress
        let source = request.sourceAppIdentifier.bundleIdentifier
        guard source == "com.example.guide" else { throw MigrationError.untrustedSource(source) }
        guard request.sourceVersion.hasPrefix("2.") else {
            throw MigrationError.incompatibleVersion(request.sourceVersion)
        }
        let destination = appContainer.documentsDirectory.appending(path: "photos")
        try FileManager.default.moveItem(at: url.appending(path: "media"), to: destination)
        progress.completedUnitCount = 100
    }
}
