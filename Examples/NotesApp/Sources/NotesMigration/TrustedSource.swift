import AppMigrationKit

/// The apps from which notes are accepted.
enum TrustedSource {
    private static let sources = [
        MigrationAppIdentifier(
            storeIdentifier: .googlePlay,
            bundleIdentifier: "com.example.notes",
            platform: .android
        ),
        // The app itself, from a backup of an iPhone.
        MigrationAppIdentifier(
            storeIdentifier: .appStore,
            bundleIdentifier: "com.example.notes",
            platform: .iOS
        ),
    ]

    /// Checks that `source` is one of them.
    ///
    /// - Throws: ``NotesMigrationError/untrustedSource(_:platform:store:)``.
    static func check(_ source: MigrationAppIdentifier) throws(NotesMigrationError) {
        let isTrusted = sources.contains { trusted in
            trusted.storeIdentifier == source.storeIdentifier
                && trusted.bundleIdentifier == source.bundleIdentifier
                && trusted.platform == source.platform
        }
        guard isTrusted else {
            throw NotesMigrationError.untrustedSource(
                source.bundleIdentifier,
                platform: source.platform.rawValue,
                store: source.storeIdentifier.rawValue
            )
        }
    }
}
