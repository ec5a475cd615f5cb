import Foundation
import NotesStore

/// The directories in which the app finds its data.
///
/// On iOS the system provides them as `URL.documentsDirectory` and so on; here `migrate run` names
/// them in the environment.
enum AppContainer {
    static var layout: StoreLayout {
        get throws {
            guard let root = directory(namedBy: "MIGRATION_CONTAINER") else {
                throw NoContainerError()
            }
            return StoreLayout(
                documents: root.appending(path: "Documents"),
                applicationSupport: root.appending(path: "Library/Application Support")
            )
        }
    }

    /// The directory that the app shares with its widget; `nil` if there is none.
    static var group: SharedGroup? {
        directory(namedBy: "NOTES_GROUP").map { SharedGroup(in: $0) }
    }

    private static func directory(namedBy variable: String) -> URL? {
        ProcessInfo.processInfo.environment[variable]
            .map { URL(filePath: $0, directoryHint: .isDirectory) }
    }
}

/// The app was not started in a container.
struct NoContainerError: LocalizedError {
    var errorDescription: String? {
        "Start Notes in its container: migrate run --container <dir> -- notes list"
    }
}
