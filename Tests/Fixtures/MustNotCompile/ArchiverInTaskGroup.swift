// error: passing closure as a 'sending' parameter risks causing data races
import AppMigrationKit
import Foundation

struct Exporter: ResourcesExporting {
    var resourcesSizeEstimate: Int { 0 }
    var resourcesVersion: String { "1.0" }
    var resourcesCompressible: Bool { true }

    func exportResources(to archiver: ResourcesArchiver, request: MigrationRequest) async throws {
        let root = appContainer.containerRootDirectory
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["a", "b"] {
                group.addTask { try await archiver.appendItem(at: root.appending(path: name)) }
            }
            try await group.waitForAll()
        }
    }
}
