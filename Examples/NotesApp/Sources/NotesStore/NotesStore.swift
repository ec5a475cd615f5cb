public import Foundation
internal import StoreMigration

/// The notes of a person, in plain files.
public struct NotesStore: Sendable {
    private let layout: StoreLayout

    /// Opens the store in `layout`, after migrating it to the current format if necessary.
    ///
    /// - Parameters:
    ///   - layout: Where the notes lie.
    ///   - progress: Updated while they are migrated.
    /// - Throws: ``StoreError/unknownVersion(_:)`` with the store untouched; errors of files.
    public init(in layout: StoreLayout, progress: Progress? = nil) throws {
        self.layout = layout
        try NotesFormat.check(layout.version)
        guard FileManager.default.fileExists(atPath: layout.notesDirectory.path) else { return }
        try StoreMigrator(layout.notes).migrate(NotesFormat.plan, progress: progress)
    }

    /// All notes, in the order that the person has set.
    ///
    /// - Throws: ``StoreError/unreadableNote(_:)``; errors of files.
    public func notes() throws -> [Note] {
        let notes = try layout.notesDirectory.contents()
            .filter { $0.pathExtension == "json" }
            .map { try note(in: $0) }
        switch try settings().sortOrder {
        case .title: return notes.sorted { ($0.title, $0.id) < ($1.title, $1.id) }
        case .created: return notes.sorted { ($1.created, $0.id) < ($0.created, $1.id) }
        }
    }

    /// The note of an identifier.
    ///
    /// - Throws: ``StoreError/noSuchNote(_:)``, ``StoreError/unreadableNote(_:)``; errors of files.
    public func note(_ id: String) throws -> Note {
        guard let note = try notes().first(where: { $0.id == id }) else {
            throw StoreError.noSuchNote(id)
        }
        return note
    }

    /// Stores a note in place of the one with its identifier.
    public func save(_ note: Note) throws {
        // Notes without a version are of format 1.0.
        try layout.write(version: NotesFormat.currentVersion.text)
        let file = layout.notesDirectory.appending(path: "\(note.id).json")
        try JSONFile.write(note, to: file)
    }

    /// Attaches a copy of `file` to a note.
    ///
    /// - Throws: ``StoreError/noSuchNote(_:)``; errors of files, also where one of that name is
    ///   attached already.
    public func attach(_ file: URL, to id: String) throws {
        var note = try note(id)
        let name = file.lastPathComponent
        let copy = layout.attachmentsDirectory.appending(path: "\(id)/\(name)")
        try copy.makeParent()
        // Copying the file itself would fail if it belonged to another user.
        try Data(contentsOf: file).write(to: copy, options: .withoutOverwriting)
        note.attachments.append(name)
        try save(note)
    }

    /// The person's settings.
    public func settings() throws -> Settings {
        guard FileManager.default.fileExists(atPath: layout.settingsFile.path) else {
            return Settings()
        }
        return try JSONFile.read(Settings.self, from: layout.settingsFile)
    }

    /// Stores the person's settings.
    public func save(_ settings: Settings) throws {
        try JSONFile.write(settings, to: layout.settingsFile)
    }

    private func note(in file: URL) throws -> Note {
        let name = file.lastPathComponent
        // The identifier is used as a path again, so it must be the file's own name.
        guard let note = try? JSONFile.read(Note.self, from: file), "\(note.id).json" == name else {
            throw StoreError.unreadableNote(name)
        }
        return note
    }
}
