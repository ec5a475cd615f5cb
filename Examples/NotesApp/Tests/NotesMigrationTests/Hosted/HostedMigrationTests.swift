import AppMigrationKit
import Foundation
import MigrationHosting
import NotesStore
import Testing

@testable import NotesMigration

/// Moving notes by an archive, from the old app to the first launches of the new one.
struct HostedMigrationTests {
    @Test(arguments: ReleasedFormat.allCases)
    func `notes of every version arrive, and the app says so once`(
        _ format: ReleasedFormat
    ) async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: format, in: directory)
            let exported = try await migration.exportNotes()
            #expect(exported.header.resourcesVersion == format.rawValue)
            #expect(exported.header.sizeEstimate == exported.totals.contentBytes)
            #expect(exported.appExtension?.findings == [])
            let imported = try await migration.importNotes()
            #expect(imported.appExtension?.findings == [])

            let store = try NotesStore(in: StoreLayout(inContainerAt: migration.newRoot))
            #expect(try store.notes() == format.notes)
            #expect(try store.settings().sortOrder == .title)
            let first = try NotesProgram.run(["list"], in: migration.newRoot)
            #expect(first.errors == "Your notes have arrived.\n")
            #expect(first.output.contains("Plants"))
            #expect(try NotesProgram.run(["list"], in: migration.newRoot).errors == "")
        }
    }

    @Test(arguments: ReleasedFormat.allCases)
    func `a whole container arrives, as a backup of an iPhone holds it`(
        _ format: ReleasedFormat
    ) async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: format, in: directory)
            let other = migration.oldRoot.appending(path: "Library/Preferences/app.plist")
            try FileManager.default.createDirectory(
                at: other.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("of the system".utf8).write(to: other)
            try await migration.exportContainer()
            let imported = try await migration.importNotes(from: .backup)
            // The system's file stays behind, and the host reports it.
            let findings = try #require(imported.appExtension).findings
            #expect(findings.map(\.code) == [.resourcesUnread])
            #expect(findings.first?.message.contains("Library/Preferences/app.plist") == true)
            let store = try NotesStore(in: StoreLayout(inContainerAt: migration.newRoot))
            #expect(try store.notes() == format.notes)
            #expect(try store.settings().sortOrder == .title)
            let first = try NotesProgram.run(["list"], in: migration.newRoot)
            #expect(first.errors == "Your notes have arrived.\n")
        }
    }

    @Test
    func `exports the original files as they are`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            try await migration.exportNotes()
            let extracted = directory.appending(path: "extracted", directoryHint: .isDirectory)
            _ = try await migration.archive.extract(to: extracted)
            #expect(try extracted.files == ReleasedFormat.version3.resources.files)
        }
    }

    @Test
    func `an app group is cleared before it is written to`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            let stale = migration.group.appending(path: "Library/stale.json")
            try FileManager.default.createDirectory(
                at: stale.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("of another person".utf8).write(to: stale)
            try await migration.exportNotes()
            let imported = try await migration.importNotes()
            #expect(imported.appExtension?.findings == [])
            #expect(try migration.group.files.keys.sorted() == ["widget.json"])
            let widget = try NotesProgram.run(
                ["widget"],
                in: migration.newRoot,
                group: migration.group
            )
            #expect(widget.output == "Only a title\nPlants\n")
        }
    }

    @Test
    func `the progress of an import is counted to its end`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version1, in: directory)
            try await migration.exportNotes()
            let progress = Progress(totalUnitCount: 0)
            try await migration.importNotes(progress: progress)
            #expect(progress.completedUnitCount == progress.totalUnitCount)
            #expect(progress.totalUnitCount > 0)
        }
    }

    @Test
    func `lets a cancellation pass`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            let report = try await MigrationHost().preflight(
                migration.container(at: migration.oldRoot),
                using: .inProcess(await NotesMigration()),
                rehearsesCancellation: true
            )
            #expect(report.findings == [])
            #expect(report.exports?.resourcesVersion == "3.0")
            #expect(report.imports)
        }
    }

    @Test
    func `exports for no platform that has no such app`() async throws {
        try await withScratchDirectory { directory in
            let migration = try HostedMigration(of: .version3, in: directory)
            var options = ExportOptions()
            options.destinationPlatform = MigrationPlatform("toaster")
            let archive = directory.appending(path: "other.tar.zst")
            let error = try await #require(throws: MigrationError.self) {
                try await MigrationHost().export(
                    migration.container(at: migration.oldRoot),
                    to: .file(archive),
                    using: .inProcess(await NotesMigration()),
                    options: options
                )
            }
            #expect(error.code == .extensionFailed)
            #expect(error.cause as? NotesMigrationError == .noAppThere("toaster"))
            #expect(!FileManager.default.fileExists(atPath: archive.path))
        }
    }
}
