import AppMigrationKit
import Foundation

/// Also moves the data that the app shares with its widget, and clears the group before it writes
/// there.
@main
struct GroupMigration: ResourcesExporting, ResourcesImporting {
    enum Failure: Error {
        case noGroup
    }

    let resourcesImportProgress = Progress(totalUnitCount: 1)

    var resourcesVersion: String { "1.0" }

    var resourcesCompressible: Bool { true }

    var resourcesSizeEstimate: Int {
        guard let group else { return 0 }
        return names(in: group).reduce(0) { sum, name in
            let file = group.appending(path: name)
            return sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        guard let group else { throw Failure.noGroup }
        for name in names(in: group) {
            try await archiver.appendItem(
                at: URL(filePath: group.path() + "/" + name),
                pathInArchive: "group/" + name
            )
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        guard let group else { throw Failure.noGroup }
        for name in names(in: group) {
            try FileManager.default.removeItem(at: group.appending(path: name))
        }
        let imported = url.appending(path: "group")
        for name in names(in: imported) {
            try FileManager.default.copyItem(
                at: imported.appending(path: name),
                to: group.appending(path: name)
            )
        }
        resourcesImportProgress.completedUnitCount = 1
    }

    private func names(in directory: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path()))?.sorted() ?? []
    }

    private var group: URL? {
        FileManager.default.containerURL(
            forSecurityApplicationGroupIdentifier: "group.com.example.guide"
        )
    }
}
