import Foundation

/// A note of format 1.0: a text file whose first line is the title.
struct NoteVersion1 {
    let id: String
    let title: String
    let text: String
    let created: Date

    /// Reads the note in `file`; only its modification time says when it was written.
    init(from file: URL) throws {
        let contents = try String(contentsOf: file, encoding: .utf8)
        let lines = contents.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        id = file.deletingPathExtension().lastPathComponent
        title = lines.first.map { String($0) } ?? ""
        text = lines.count > 1 ? String(lines[1]) : ""
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        created = attributes[.modificationDate] as? Date ?? Date()
    }
}

/// A note of format 2.0: a JSON file, with tags.
struct NoteVersion2: Codable {
    let id: String
    let title: String
    let text: String
    let tags: [String]
    let created: Date
}

extension NoteVersion2 {
    init(_ note: NoteVersion1) {
        self.init(
            id: note.id,
            title: note.title,
            text: note.text,
            tags: [],
            created: note.created
        )
    }
}

extension Note {
    init(_ note: NoteVersion2) {
        self.init(
            id: note.id,
            title: note.title,
            text: note.text,
            tags: note.tags,
            created: note.created
        )
    }
}
