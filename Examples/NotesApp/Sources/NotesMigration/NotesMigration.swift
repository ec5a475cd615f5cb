import AppMigrationKit
import ExtensionFoundation
import Foundation
import NotesStore
import StoreMigration

/// Moves a person's notes to the app on Android and back.
@main
struct NotesMigration: ResourcesExporting, ResourcesImporting {
    /// One object for the whole import: the system observes the one that it gets.
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    /// Notes are text, and most of the data.
    let resourcesCompressible = true

    /// The format of the files, which are exported as they are.
    ///
    /// It is an earlier one if the app was not opened since its update.
    var resourcesVersion: String {
        (try? layout.version) ?? NotesFormat.currentVersion.text
    }

    /// The sum of what an export appends.
    var resourcesSizeEstimate: Int {
        get async {
            let files = (try? layout.transportableFiles()) ?? []
            return files.reduce(0) { $0 + $1.size }
        }
    }

    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequest
    ) async throws {
        guard request.destinationPlatform == .android else {
            throw NotesMigrationError.noAppThere(request.destinationPlatform.rawValue)
        }
        // A cancelled archiver throws. Don't catch that error.
        for file in try layout.transportableFiles() {
            try await archiver.appendItem(at: file.url, pathInArchive: file.path)
        }
    }

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        // Refuse everything that can be refused before anything is touched.
        try TrustedSource.check(request.sourceAppIdentifier)
        let resources = ImportedResources(in: url, for: layout)
        // In an archive made from a backup, the version is the app's; the container has that of its
        // notes.
        let version = try resources.containerVersion() ?? request.sourceVersion
        try NotesFormat.check(version)
        try RemindersFormat.check(resources.remindersFile)
        let files = try resources.files()
        let progress = resourcesImportProgress
        progress.totalUnitCount = Int64(files.count + 2)

        // The system clears the app's container after a failure, but never an app group.
        try group?.clear()
        for file in files {
            try Task.checkCancellation()
            try resources.move(file)
            progress.completedUnitCount += 1
        }
        // The app finds its notes in the current format, whatever release they come from.
        try layout.write(version: version)
        let store = try NotesStore(in: layout)
        _ = try Reminders(in: layout)
        progress.completedUnitCount += 1
        try group?.update(with: store.notes())
        progress.completedUnitCount = progress.totalUnitCount
    }

    private var layout: StoreLayout {
        let container = appContainer
        return StoreLayout(
            documents: container.documentsDirectory,
            applicationSupport: container.applicationSupportDirectory
        )
    }

    /// The directory that the app shares with its widget.
    private var group: SharedGroup? {
        FileManager.default
            .containerURL(forSecurityApplicationGroupIdentifier: SharedGroup.identifier)
            .map { SharedGroup(in: $0) }
    }
}
