import AppMigrationKit
import ExtensionFoundation
import Foundation

/// An app's extension that exports the documents and moves them back, in its own program and in the
/// tests' process.
@main
struct ProfileMigration: ResourcesExporting, ResourcesImporting {
    let resourcesImportProgress = Progress(totalUnitCount: 100)

    var resourcesSizeEstimate: Int {
        let documents = appContainer.documentsDirectory
        let names = FileManager.default.enumerator(atPath: documents.path)
        var size = 0
        while let name = names?.nextObject() as? String {
            let values = try? documents.appending(path: name)
                .resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
            if values?.isRegularFile == true { size += values?.fileSize ?? 0 }
        }
        return size
    }
    var resourcesVersion: String { "2.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let request = try note("platform=\(request.destinationPlatform.rawValue)")
        defer { try? FileManager.default.removeItem(at: request) }
        try await archiver.appendItem(at: appContainer.documentsDirectory)
        try await archiver.appendItem(at: request, pathInArchive: "request.txt")
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let documents = url.appending(path: "Documents")
        for name in try FileManager.default.contentsOfDirectory(atPath: documents.path) {
            try FileManager.default.moveItem(
                at: documents.appending(path: name),
                to: appContainer.documentsDirectory.appending(path: name)
            )
        }
        let app = request.sourceAppIdentifier
        let text = """
            \(app.storeIdentifier.rawValue) \(app.bundleIdentifier) \(app.platform.rawValue) \
            \(request.sourceVersion)
            """
        let source = appContainer.applicationSupportDirectory.appending(path: "source.txt")
        try Data(text.utf8).write(to: source)
        _ = try? Data(contentsOf: url.appending(path: "request.txt"))
        resourcesImportProgress.completedUnitCount = 100
    }

    private func note(_ text: String) throws -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(text.utf8).write(to: file)
        return file
    }
}
