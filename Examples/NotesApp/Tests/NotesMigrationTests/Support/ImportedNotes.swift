import AppMigrationKit
import Foundation
import NotesStore

/// Runs `body` with a directory as the system brings it for an import, with notes of `format`.
func withResources(
    of format: ReleasedFormat,
    _ body: (URL) async throws -> Void
) async throws {
    try await withScratchDirectory { directory in
        let resources = directory.appending(path: "resources", directoryHint: .isDirectory)
        try format.copyResources(to: resources)
        try await body(resources)
    }
}

extension ResourcesImportRequest {
    /// A request of an app on Android, from Google Play.
    static func fromAndroid(
        app identifier: String = "com.example.notes",
        version: String
    ) -> ResourcesImportRequest {
        ResourcesImportRequest(
            sourceAppIdentifier: MigrationAppIdentifier(
                storeIdentifier: .googlePlay,
                bundleIdentifier: identifier,
                platform: .android
            ),
            sourceVersion: version
        )
    }
}

extension NotesStore {
    /// Opens the store in an app's container.
    init(in container: MigrationDataContainer) throws {
        try self.init(in: StoreLayout(inContainerAt: container.containerRootDirectory))
    }
}
