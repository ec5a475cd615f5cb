import Foundation
import NotesStore

/// The files that the system brought for an import, and where they belong.
struct ImportedResources {
    /// A file and its destination.
    struct File {
        let source: URL
        let path: String
        let destination: URL
    }

    private let directory: URL
    private let layout: StoreLayout

    init(in directory: URL, for layout: StoreLayout) {
        self.directory = directory
        self.layout = layout
    }

    /// Whether the files are those of a whole container of the app, as a backup of an iPhone holds it.
    private var isContainer: Bool {
        FileManager.default.fileExists(atPath: directory.appending(path: "Documents").path)
    }

    /// The version of the format in a whole container; `nil` for files that an export brought.
    func containerVersion() throws -> String? {
        guard isContainer else { return nil }
        let documents = directory.appending(path: "Documents")
        return try StoreLayout(documents: documents, applicationSupport: directory).version
    }

    /// The file of the reminders, which may be missing.
    var remindersFile: URL {
        let support = isContainer ? "Library/Application Support/" : ""
        return directory.appending(path: support + "reminders.db")
    }

    /// The files that belong in the store, by path.
    ///
    /// - Throws: ``NotesMigrationError/unknownFile(_:)`` if one has no place in it. A whole
    ///   container also holds files of the system, which stay behind.
    func files() throws -> [File] {
        let isContainer = isContainer
        return try paths().sorted().compactMap { path in
            let destination =
                isContainer
                ? layout.destination(inContainer: path) : layout.destination(of: path)
            guard let destination else {
                if isContainer { return nil }
                throw NotesMigrationError.unknownFile(path)
            }
            return File(
                source: directory.appending(path: path),
                path: path,
                destination: destination
            )
        }
    }

    /// Moves a file to its place by renaming it, which needs no space.
    ///
    /// - Throws: ``NotesMigrationError/notMoved(_:reason:)``.
    func move(_ file: File) throws {
        do {
            try FileManager.default.createDirectory(
                at: file.destination.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.moveItem(at: file.source, to: file.destination)
        } catch {
            throw NotesMigrationError.notMoved(file.path, reason: error.localizedDescription)
        }
    }

    private func paths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { path in
            var isDirectory: ObjCBool = false
            let file = directory.appending(path: path).path
            return FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }
    }
}
