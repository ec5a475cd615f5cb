import AppMigrationKit
import Foundation
import MigrationHosting
import NotesStore
import Testing

@testable import NotesMigration

/// Imports that the extension refuses, and the message for the person.
struct HostedRefusalTests {
    /// A source from which notes are not accepted.
    enum Untrusted: CaseIterable {
        case app, platform, store

        var source: ImportSource {
            var source = ImportSource.androidApp
            switch self {
            case .app: source.bundleIdentifier = "com.example.rival"
            case .platform: source.platform = .linux
            case .store: source.store = MigrationAppIdentifier.StoreIdentifier("bazaar")
            }
            return source
        }
    }

    @Test
    func `an unknown version is refused with the data untouched`() async throws {
        var source = ImportSource.androidApp
        source.version = "4.0"
        try await refuse(
            source,
            saying: """
                Your notes did not arrive. These notes are in format 4.0, which this version of \
                Notes can't read. Update Notes and try again.

                """
        )
    }

    @Test(arguments: Untrusted.allCases)
    func `another app's data is refused with the data untouched`(
        _ untrusted: Untrusted
    ) async throws {
        let source = untrusted.source
        let app = source.bundleIdentifier ?? HostedMigration.identifier
        let platform = source.platform?.rawValue ?? "android"
        let store = source.store?.rawValue ?? (platform == "linux" ? "unknown" : "googlePlay")
        try await refuse(
            source,
            saying: """
                Your notes did not arrive. The notes come from “\(app)” (platform \(platform), \
                store \(store)), which is not the Notes app for Android from Google Play.

                """
        )
    }

    /// Checks that an import from `source` changes nothing, and that the app says `notice` once.
    private func refuse(_ source: ImportSource, saying notice: String) async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            let shared = migration.group.appending(path: "widget.json")
            try Data("as it was".utf8).write(to: shared)
            try await migration.exportNotes()
            // An existing container keeps the status for the app to read.
            try FileManager.default.createDirectory(
                at: migration.newRoot,
                withIntermediateDirectories: true
            )
            let error = try await #require(throws: MigrationError.self) {
                try await migration.importNotes(from: source)
            }
            #expect(error.code == .extensionFailed)
            #expect(try migration.newRoot.files == [:])
            #expect(try migration.group.files == ["widget.json": Data("as it was".utf8)])
            #expect(try NotesProgram.run(["list"], in: migration.newRoot).errors == notice)
            #expect(try NotesProgram.run(["list"], in: migration.newRoot).errors == "")
        }
    }
}
