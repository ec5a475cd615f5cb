// error: extra arguments at positions #2, #3, #4 in call
// error: missing argument for parameter 'at' in call
import AppMigrationKit
import Foundation

func makeContainer(at url: URL) -> MigrationDataContainer {
    MigrationDataContainer(
        bundleIdentifier: "com.example.notes",
        containerRootDirectory: url,
        documentsDirectory: url,
        applicationSupportDirectory: url
    )
}
