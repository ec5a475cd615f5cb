import AppMigrationKit
import Foundation

/// Trusts nothing: begins with an empty container and copies each file to its place through a
/// temporary one.
@main
struct DefensiveMigration: ResourcesExporting, ResourcesImporting {
    enum Failure: Error {
        case nothingToImport
        case untrusted(String)
    }

    let resourcesImportProgress = Progress(totalUnitCount: 0)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        paths(in: appContainer.documentsDirectory).reduce(0) { sum, path in
            let file = appContainer.documentsDirectory.appending(path: path)
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path())
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        for path in paths(in: appContainer.documentsDirectory) {
            let file = appContainer.documentsDirectory.appending(path: path)
            guard FileManager.default.isReadableFile(atPath: file.path()) else { continue }
            try await archiver.appendItem(at: file, pathInArchive: path)
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let source = request.sourceAppIdentifier.bundleIdentifier
        guard source == "com.example.guide" else { throw Failure.untrusted(source) }
        try emptyContainer()
        let paths = paths(in: url)
        guard !paths.isEmpty else { throw Failure.nothingToImport }
        resourcesImportProgress.totalUnitCount = Int64(paths.count)
        for path in paths {
            try copy(url.appending(path: path), to: path)
            resourcesImportProgress.completedUnitCount += 1
        }
    }

    private func emptyContainer() throws {
        let root = appContainer.containerRootDirectory
        for item in try FileManager.default.contentsOfDirectory(atPath: root.path()) {
            try FileManager.default.removeItem(atPath: root.appending(path: item).path())
        }
    }

    private func copy(_ file: URL, to path: String) throws {
        let files = FileManager.default
        let temporary = files.temporaryDirectory.appending(path: UUID().uuidString)
        try files.copyItem(atPath: file.path(), toPath: temporary.path())
        let destination = appContainer.documentsDirectory.appending(path: path)
        try files.createDirectory(
            atPath: destination.deletingLastPathComponent().path(),
            withIntermediateDirectories: true
        )
        try files.moveItem(atPath: temporary.path(), toPath: destination.path())
    }

    /// The paths of the regular files in `directory`.
    private func paths(in directory: URL) -> [String] {
        (files.subpaths(atPath: directory.path()) ?? []).filter { path in
            var isDirectory: ObjCBool = false
            let file = directory.appending(path: path)
            return files.fileExists(atPath: file.path(), isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    private var files: FileManager { .default }
}
