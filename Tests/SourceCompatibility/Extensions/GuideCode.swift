import AppMigrationKit
import Foundation

// Code as guides show it, with its mistakes: what compiles on iOS compiles here.

struct GuideImporter: ResourcesImporting {
    // Each read makes another object, so nobody sees it move.
    var resourcesImportProgress: Progress { Progress(totalUnitCount: 100) }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        let supported = ["1.0", "2.0"]
        guard supported.contains(request.sourceVersion) else {
            throw NSError(domain: "Notes", code: 1)
        }
        let container = appContainer
        let enumerator = FileManager.default.enumerator(
            at: url,
            includingPropertiesForKeys: [.isRegularFileKey]
        )
        while let file = enumerator?.nextObject() as? URL {
            let place = container.documentsDirectory.appendingPathComponent(file.lastPathComponent)
            try FileManager.default.copyItem(at: file, to: place)
        }
        resourcesImportProgress.completedUnitCount = 100
    }
}

struct GuideExporter: ResourcesExporting {
    var resourcesSizeEstimate: Int {
        let container = appContainer
        let values = try? container.documentsDirectory.resourceValues(forKeys: [.fileSizeKey])
        return values?.fileSize ?? 0
    }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        let container = appContainer
        try await archiver.appendItem(at: container.documentsDirectory, pathInArchive: "Documents")
        switch request.destinationPlatform {
        case .android: break
        default: print("going to \(request.destinationPlatform.rawValue)")
        }
        if !request.options.isEmpty { print("asked for \(request.options.count) options") }
    }
}

/// What a guide's app does at its first launch.
enum GuideApp {
    static func message(for status: MigrationStatus?) -> String {
        guard let status else { return "nothing moved" }
        switch status {
        case .success:
            return "welcome back"
        case .failure(let error):
            return error.localizedDescription
        }
    }

    static func tellPerson() -> String {
        defer { MigrationStatus.clearImportStatus() }
        return message(for: MigrationStatus.importStatus)
    }

    /// The main actor gives a status away to a method that belongs to no actor.
    @MainActor static func register() async {
        let status = MigrationStatus.failure(CocoaError(.fileReadCorruptFile))
        await record(status)
        await record(.success)
    }

    private nonisolated static func record(_ status: MigrationStatus) async {}
}
