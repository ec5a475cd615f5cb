internal import Foundation

/// One note, as the app stores it.
struct Note: Codable {
    struct Task: Codable {
        var text: String
        var isDone: Bool
    }

    struct Place: Codable {
        var latitude: Double
        var longitude: Double
    }

    var version = 3
    var id: UUID
    var title: String
    var body: String
    var created: Date
    var modified: Date
    var tags: [String]
    var isPinned: Bool
    var tasks: [Task]
    var place: Place?
}

extension Note {
    /// A note that `generator` decides, last changed at `modified`.
    static func random(modified: Timestamp, using generator: inout SeededGenerator) -> Note {
        Note(
            id: .random(using: &generator),
            title: Prose.title(using: &generator),
            body: Prose.paragraphs(generator.number(in: 1...5), using: &generator),
            created: modified.date - TimeInterval(generator.number(in: 60...9_000_000)),
            modified: modified.date,
            tags: (0..<generator.number(in: 0...4)).map { _ in generator.pick(Prose.tags) },
            isPinned: generator.number(in: 1...20) == 1,
            tasks: (0..<max(0, generator.number(in: -6...8))).map { _ in
                Task(
                    text: Prose.sentence(using: &generator),
                    isDone: generator.number(in: 0...1) == 1
                )
            },
            place: generator.number(in: 1...3) == 1 ? .random(using: &generator) : nil
        )
    }
}

extension Note.Place {
    fileprivate static func random(using generator: inout SeededGenerator) -> Note.Place {
        Note.Place(
            latitude: Double(generator.number(in: -60_0000...70_0000)) / 10_000,
            longitude: Double(generator.number(in: -180_0000...180_0000)) / 10_000
        )
    }
}

extension UUID {
    /// A version 4 identifier that `generator` decides.
    static func random(using generator: inout SeededGenerator) -> UUID {
        var bytes = generator.bytes(count: 16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
