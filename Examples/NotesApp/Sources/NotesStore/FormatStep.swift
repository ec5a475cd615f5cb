import Foundation

/// A step from one version of the store's format to the next.
///
/// A step that was cut off is begun anew, so that it must not harm what it did already.
public struct FormatStep: Sendable {
    /// The version that the step begins at.
    public let source: String

    /// The version that it leads to.
    public let target: String

    /// Writes the notes in the new format.
    let convert: @Sendable (StoreLayout) throws -> Void

    /// Removes what only the old format needs, once the store is known to be in the new one.
    let cleanUp: @Sendable (StoreLayout) throws -> Void
}

extension FormatStep {
    /// Text files become JSON files with tags.
    static let textToJSON = FormatStep(source: "1.0", target: "2.0") { layout in
        for file in try textFiles(in: layout) {
            let note = NoteVersion2(try NoteVersion1(from: file))
            let converted = file.deletingPathExtension().appendingPathExtension("json")
            try JSONFile.write(note, to: converted)
        }
    } cleanUp: { layout in
        for file in try textFiles(in: layout) {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// Notes come into folders and may have attachments.
    static let foldersAndAttachments = FormatStep(source: "2.0", target: "3.0") { layout in
        for file in try layout.notesDirectory.contents() where file.pathExtension == "json" {
            let note = Note(try JSONFile.read(NoteVersion2.self, from: file))
            try JSONFile.write(note, to: file)
        }
    } cleanUp: { _ in
    }

    private static func textFiles(in layout: StoreLayout) throws -> [URL] {
        try layout.notesDirectory.contents().filter { $0.pathExtension == "txt" }
    }
}
