import AppMigrationKit
import Foundation
import MigrationHosting
import NotesStore

@testable import NotesMigration

/// The whole way from an old device to a new one, with the extension in this process.
struct HostedMigration {
    static let identifier = "com.example.notes"

    let oldRoot: URL
    let newRoot: URL
    let group: URL
    let archive: ArchiveSource

    private let archiveFile: URL

    /// Makes the old device's container, which holds notes of `format`, and the new one's app group.
    init(of format: ReleasedFormat, in directory: URL) throws {
        oldRoot = directory.appending(path: "old", directoryHint: .isDirectory)
        newRoot = directory.appending(path: "new", directoryHint: .isDirectory)
        group = directory.appending(path: "group", directoryHint: .isDirectory)
        archiveFile = directory.appending(path: "notes.tar.zst")
        archive = .file(archiveFile)
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: false)
        try format.write(to: oldRoot)
    }

    /// Exports what the old device holds for Android.
    @discardableResult
    func exportNotes() async throws -> ExportReport {
        try await MigrationHost().export(
            container(at: oldRoot),
            to: .file(archiveFile),
            using: .inProcess(await NotesMigration())
        )
    }

    /// Archives the old device's whole container, as `migrate ios convert` does with a backup.
    func exportContainer() async throws {
        _ = try await MigrationHost().export(container(at: oldRoot), to: .file(archiveFile))
    }

    /// Imports it on the new device, as if it came from `source`.
    @discardableResult
    func importNotes(
        from source: ImportSource = .androidApp,
        progress: Progress? = nil
    ) async throws -> ImportReport {
        var notes = MigrationExtension.inProcess(await NotesMigration())
        notes.applicationGroups = [SharedGroup.identifier: group]
        var options = ImportOptions()
        options.source = source
        return try await MigrationHost().import(
            archive,
            into: container(at: newRoot),
            using: notes,
            options: options,
            progress: progress
        )
    }

    func container(at root: URL) throws -> MigrationDataContainer {
        try MigrationDataContainer(at: root, bundleIdentifier: Self.identifier)
    }
}

extension ImportSource {
    /// The app that notes come from, in the archive's version.
    static var androidApp: ImportSource {
        var source = ImportSource()
        source.platform = .android
        return source
    }

    /// The app itself, in the version of a backup.
    static var backup: ImportSource {
        var source = ImportSource()
        source.platform = .iOS
        source.version = "4.2"
        return source
    }
}
