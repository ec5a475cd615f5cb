import Foundation
import NotesStore

/// A format in which a released version of the app kept its notes, with a store in it.
enum ReleasedFormat: String, CaseIterable {
    case version1 = "1.0"
    case version2 = "2.0"
    case version3 = "3.0"

    /// When the plants' note was written.
    static let creation = Date(timeIntervalSince1970: 1_714_552_200)

    /// When the other note was written.
    static let laterCreation = creation.addingTimeInterval(124_200)

    /// The store of that format, laid out as an export transports it.
    var resources: URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fixtures/\(rawValue)", directoryHint: .isDirectory).standardized
    }

    /// The notes in that store, as the current app shows them: in the order of their titles.
    var notes: [Note] {
        [
            Note(
                id: "c0ffee02",
                title: "Only a title",
                text: "",
                created: Self.laterCreation
            ),
            Note(
                id: "c0ffee01",
                title: "Plants",
                text: "Water them on Sunday.\nDie Blumen gießen. 花に水をやる。\n",
                tags: self == .version1 ? [] : ["garden", "summer"],
                folder: self == .version3 ? "Home" : Note.defaultFolder,
                attachments: self == .version3 ? ["Plan of the garden 🌱.csv"] : [],
                created: Self.creation
            ),
        ]
    }

    /// Copies the store as an export transports it.
    func copyResources(to directory: URL) throws {
        try resources.copyFiles(to: directory)
        try setTimes(in: directory.appending(path: "Notes"))
    }

    /// Lays the store out in the container at `root`, as an app of that version left it.
    func write(to root: URL) throws {
        let documents = root.appending(path: "Documents")
        let support = root.appending(path: "Library/Application Support")
        try resources.copyFiles(to: documents)
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            at: documents.appending(path: "settings.json"),
            to: support.appending(path: "settings.json")
        )
        try setTimes(in: documents.appending(path: "Notes"))
        // The app of format 1.0 wrote no version.
        guard self != .version1 else { return }
        let version = documents.appending(path: "Notes/format-version")
        try Data("\(rawValue)\n".utf8).write(to: version)
    }

    /// Gives the notes their times, the only sign of their age in format 1.0.
    private func setTimes(in notes: URL) throws {
        let times = ["c0ffee01": Self.creation, "c0ffee02": Self.laterCreation]
        for (id, date) in times {
            let name = self == .version1 ? "\(id).txt" : "\(id).json"
            let file = notes.appending(path: name).path
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
        }
    }
}

extension StoreLayout {
    /// The store in the container at `root`.
    init(inContainerAt root: URL) {
        self.init(
            documents: root.appending(path: "Documents"),
            applicationSupport: root.appending(path: "Library/Application Support")
        )
    }
}
