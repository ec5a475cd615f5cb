import Foundation
public import StoreMigration

/// The formats in which the app has kept its notes, and the way from each to the current one.
public enum NotesFormat {
    /// The version that this app reads and writes.
    public static let currentVersion: StoreVersion = "3.0"

    /// The steps to the current version, each of which works on a copy of the notes.
    public static let plan = StoreMigrationPlan(
        current: currentVersion,
        steps: [
            // Text files become JSON files with tags.
            StoreStep(from: "1.0", to: "2.0") { copy in
                for file in try copy.url.contents() where file.pathExtension == "txt" {
                    let note = NoteVersion2(try NoteVersion1(from: file))
                    let converted = file.deletingPathExtension().appendingPathExtension("json")
                    try JSONFile.write(note, to: converted)
                    try FileManager.default.removeItem(at: file)
                }
            },
            // Notes come into folders and may have attachments.
            StoreStep(from: "2.0", to: "3.0") { copy in
                for file in try copy.url.contents() where file.pathExtension == "json" {
                    let note = Note(try JSONFile.read(NoteVersion2.self, from: file))
                    try JSONFile.write(note, to: file)
                }
            },
        ]
    )

    /// Checks that notes of a version can be brought to the current one.
    ///
    /// - Throws: ``StoreError/unknownVersion(_:)``.
    public static func check(_ version: String) throws(StoreError) {
        switch plan.assess(version: StoreVersion(version)) {
        case .current, .steps: break
        case .impossible, .notInferable, .unknownVersion, .newer:
            throw StoreError.unknownVersion(version)
        }
    }
}
