import AppMigrationKit
import ExtensionFoundation
import Foundation
import TasksStore

/// Imports the lists of the app on Android.
@main
struct TasksMigration: ResourcesImporting {
    /// The format of the data on Android: the `contentVersion` in the rules.
    static let contentVersion = "2"

    /// One object for the whole import: the system observes the one that it gets.
    let resourcesImportProgress = Progress(totalUnitCount: 1)

    func importResources(at url: URL, request: ResourcesImportRequest) async throws {
        // Refuse what can be refused before anything is touched.
        try Self.check(request)
        let layout = StoreLayout(inContainerAt: appContainer.containerRootDirectory)
        let moves = Self.moves(to: layout)
        let database = AndroidStorage.databases.url(of: "tasks.db", in: url)
        guard FileManager.default.fileExists(atPath: database.path) else {
            throw TasksMigrationError.noTasks
        }
        let settings = try Self.settings(in: url)

        let progress = resourcesImportProgress
        progress.totalUnitCount = Int64(moves.count + 2)
        for (storage, name, destination) in moves {
            try Task.checkCancellation()
            try Self.move(storage.url(of: name, in: url), to: destination)
            progress.completedUnitCount += 1
        }
        try Self.checkTasks(at: layout.tasks)
        progress.completedUnitCount += 1
        try settings.write(to: layout.settings)
        progress.completedUnitCount += 1
    }

    private static func check(_ request: ResourcesImportRequest) throws {
        let source = request.sourceAppIdentifier
        guard source.platform == .android, source.storeIdentifier == .googlePlay,
            source.bundleIdentifier == "com.example.tasks"
        else {
            throw TasksMigrationError.untrustedSource(source.bundleIdentifier)
        }
        guard request.sourceVersion == contentVersion else {
            throw TasksMigrationError.unknownVersion(request.sourceVersion)
        }
    }

    /// The destination of each item; an item that is not listed stays in the import's directory.
    private static func moves(
        to layout: StoreLayout
    ) -> [(storage: AndroidStorage, name: String, destination: URL)] {
        let databases: [(AndroidStorage, String, URL)] = [
            (.databases, "tasks.db", layout.tasks),
            (.deviceDatabases, "reminders.db", layout.reminders),
        ]
        return [
            (.root, "app_drafts", layout.drafts),
            (.files, "attachments", layout.attachments),
            (.externalFiles, "exports", layout.exports),
            (.deviceRoot, "app_widgets", layout.widgets),
            (.deviceFiles, "sounds", layout.sounds),
        ]
            + databases.flatMap { storage, name, destination in
                // The newest changes may be only in the -wal, so a database's files stay together.
                ["", "-wal", "-journal"].map { suffix in
                    let directory = destination.deletingLastPathComponent()
                    return (storage, name + suffix, directory.appending(path: name + suffix))
                }
            }
    }

    /// Moves an item if it is there, which needs no space within a file system.
    private static func move(_ source: URL, to destination: URL) throws {
        guard FileManager.default.fileExists(atPath: source.path) else { return }
        try FileManager.default.createDirectory(
            at: destination.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.moveItem(at: source, to: destination)
    }

    /// Opens the database as the app will, which also writes its -wal into it.
    private static func checkTasks(at file: URL) throws {
        let database = try TasksDatabase(at: file)
        let version = try database.version
        guard version == TasksDatabase.currentVersion else {
            throw TasksMigrationError.unusableTasks("their schema is of version \(version)")
        }
        guard try database.isSound else {
            throw TasksMigrationError.unusableTasks("they are damaged")
        }
    }

    /// The settings of the app on Android, converted; the others keep their defaults.
    private static func settings(in directory: URL) throws -> Settings {
        var settings = Settings()
        if let general = try preferences(.sharedPreferences, "settings.xml", in: directory) {
            settings.sortOrder = general.string("sort_order") ?? settings.sortOrder
            settings.showsDone = general.boolean("show_done") ?? settings.showsDone
            settings.minutesToRemind = general.integer("remind_minutes") ?? settings.minutesToRemind
            settings.textScale = general.number("text_scale") ?? settings.textScale
            settings.pinnedLists = general.set("pinned_lists") ?? settings.pinnedLists
        }
        if let alarms = try preferences(.deviceSharedPreferences, "alarms.xml", in: directory) {
            settings.sound = alarms.string("sound") ?? settings.sound
        }
        return settings
    }

    private static func preferences(
        _ storage: AndroidStorage,
        _ name: String,
        in directory: URL
    ) throws -> SharedPreferences? {
        let file = storage.url(of: name, in: directory)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try SharedPreferences(contentsOf: file)
    }
}
