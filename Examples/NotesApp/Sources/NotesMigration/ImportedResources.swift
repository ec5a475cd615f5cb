import Foundation
import NotesStore

/// The files that the system brought for an import, and where they belong.
struct ImportedResources {
    /// A file on its way.
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

    /// The files that belong in the store, by path.
    ///
    /// - Throws: ``NotesMigrationError/unknownFile(_:)`` where one has no place in it.
    func files() throws -> [File] {
        try paths().sorted().map { path in
            guard let destination = layout.destination(of: path) else {
                throw NotesMigrationError.unknownFile(path)
            }
            return File(
                source: directory.appending(path: path),
                path: path,
                destination: destination
            )
        }
    }

    /// Moves a file to its place: a renaming, which takes no room.
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
