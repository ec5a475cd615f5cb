public import Foundation
internal import StoreMigration

/// The paths of a store's files in the app's container.
public struct StoreLayout: Sendable {
    /// The notes, one file each.
    public let notesDirectory: URL

    /// The attached files, in a directory for each note.
    public let attachmentsDirectory: URL

    /// The person's settings.
    public let settingsFile: URL

    /// The person's reminders, a SQLite file.
    public let remindersFile: URL

    private static let versionName = "format-version"

    /// Lays out a store in the two directories of the container that the app uses.
    public init(documents: URL, applicationSupport: URL) {
        notesDirectory = documents.appending(path: "Notes", directoryHint: .isDirectory)
        attachmentsDirectory = documents.appending(path: "Attachments", directoryHint: .isDirectory)
        settingsFile = applicationSupport.appending(path: "settings.json")
        remindersFile = applicationSupport.appending(path: "reminders.db")
    }

    /// The notes as a store that is migrated, with the version of their format among them.
    var notes: VersionedStore {
        VersionedStore(
            at: notesDirectory,
            .directory(versionFile: Self.versionName),
            unwrittenVersion: "1.0"
        )
    }

    private var versionFile: URL { notesDirectory.appending(path: Self.versionName) }
}

extension StoreLayout {
    /// The version of the format that the notes are in.
    ///
    /// Format 1.0 had no file for it. If there are no notes at all, it is the current version.
    public var version: String {
        get throws {
            let hasNotes = FileManager.default.fileExists(atPath: notesDirectory.path)
            return hasNotes ? try notes.version?.text ?? "" : NotesFormat.currentVersion.text
        }
    }

    /// The files worth moving to another device, in the format that they are in now.
    ///
    /// Files that the app can make again, such as the widget's snapshot, are not among them.
    public func transportableFiles() throws -> [StoreFile] {
        var files = try StoreFile.all(in: notesDirectory, under: "Notes")
            .filter { $0.url != versionFile }
        for directory in try attachmentsDirectory.directories() {
            let path = "Attachments/" + directory.lastPathComponent
            files += try StoreFile.all(in: directory, under: path)
        }
        for file in [settingsFile, remindersFile, remindersJournal]
        where FileManager.default.fileExists(atPath: file.path) {
            files.append(try StoreFile(at: file, path: file.lastPathComponent))
        }
        return files
    }

    /// The destination of a transported file, by its old path; `nil` if it doesn't belong to the
    /// store.
    public func destination(of path: String) -> URL? {
        if let file = supportFile(named: path) { return file }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return switch (parts.first, parts.count) {
        case ("Notes", 2): notesDirectory.appending(path: parts[1])
        case ("Attachments", 3): attachmentsDirectory.appending(path: "\(parts[1])/\(parts[2])")
        default: nil
        }
    }

    /// The destination of a file of a whole container, by its path there; `nil` if it doesn't
    /// belong to the store.
    public func destination(inContainer path: String) -> URL? {
        let (support, documents) = ("Library/Application Support/", "Documents/")
        if path.hasPrefix(support) { return supportFile(named: path.dropFirst(support.count)) }
        guard path.hasPrefix(documents) else { return nil }
        let rest = path.dropFirst(documents.count)
        return supportFile(named: rest) == nil ? destination(of: String(rest)) : nil
    }

    private func supportFile(named name: some StringProtocol) -> URL? {
        [settingsFile, remindersFile, remindersJournal].first { $0.lastPathComponent == name }
    }

    /// What SQLite needs beside the reminders where the app was killed while it kept one.
    private var remindersJournal: URL {
        remindersFile.deletingLastPathComponent().appending(path: "reminders.db-journal")
    }

    /// Writes the version, unless it is written already.
    public func write(version: String) throws {
        guard try writtenVersion != version else { return }
        try versionFile.makeParent()
        try Data("\(version)\n".utf8).write(to: versionFile, options: .atomic)
    }

    private var writtenVersion: String? {
        get throws {
            guard FileManager.default.fileExists(atPath: versionFile.path) else { return nil }
            return try String(contentsOf: versionFile, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
