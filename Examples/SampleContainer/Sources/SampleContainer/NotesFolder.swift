internal import Foundation

/// The documents of the app: notes as JSON, and property lists beside them.
struct NotesFolder {
    private static let topics = [
        "Home", "Work", "Work/Meetings", "Work/Projects/Catalogue", "Travel", "Travel/Rail",
        "Recipes", "Recipes/Bread", "Garden", "Reading", "Ταξίδια", "日記",
    ]

    private let count: Int
    private var generator: SeededGenerator
    private let notes = JSONEncoder()
    private let summaries = PropertyListEncoder()

    init(seed: UInt64, count: Int) {
        self.count = count
        generator = SeededGenerator(seed: seed, part: "notes")
        notes.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        notes.dateEncodingStrategy = .iso8601
        summaries.outputFormat = .xml
    }

    consuming func write(to container: inout ContainerWriter) throws {
        for number in 0..<count {
            let time = Timestamp.random(using: &generator)
            let note = Note.random(modified: time, using: &generator)
            let folder = "Documents/Notes/\(generator.pick(Self.topics))/\(time.year)"
            let stem = "\(folder)/\(number)-\(Self.slug(of: note.title))"
            // Every seventh note is one of the app's first version, a property list.
            let isOld = number % 7 == 6
            try container.addFile(
                "\(stem).\(isOld ? "plist" : "json")",
                Array(isOld ? summaries.encode(note) : notes.encode(note)),
                modified: time
            )
        }
    }

    private static func slug(of title: String) -> String {
        String(title.lowercased().map { $0.isLetter ? $0 : "-" })
    }
}
