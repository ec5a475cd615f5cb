import Foundation
import MigrationCore

/// An app that keeps notes in its container, and files that it can make again in its caches.
enum NotesApp {
    static let note = "Water the plants. Die Blumen gießen. 花に水をやる。\n"

    static func writeData(to container: MigrationDataContainer) throws {
        let settings = #"{ "sortsByDate": true }"#
        try write(note, to: noteFile(in: container))
        let support = container.applicationSupportDirectory
        try write(settings, to: support.appending(path: "settings.json"))
        let caches = container.containerRootDirectory.appending(path: "Library/Caches")
        try write("what an export leaves out", to: caches.appending(path: "thumbnails.db"))
    }

    static func readNote(in container: MigrationDataContainer) throws -> String {
        try String(contentsOf: noteFile(in: container), encoding: .utf8)
    }

    private static func noteFile(in container: MigrationDataContainer) -> URL {
        container.documentsDirectory.appending(path: "Plants 🌱.txt")
    }

    private static func write(_ text: String, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
