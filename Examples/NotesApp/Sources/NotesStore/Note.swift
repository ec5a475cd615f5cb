public import Foundation

/// A note in format 3.0.
public struct Note: Codable, Equatable, Identifiable, Sendable {
    /// The folder of notes that are in no folder.
    public static let defaultFolder = "Notes"

    /// The note's identifier, which is also the name of its file.
    public let id: String

    /// The title.
    public var title: String

    /// The text.
    public var text: String

    /// The tags, in the order in which they were given.
    public var tags: [String]

    /// The folder that the note is in.
    public var folder: String

    /// The names of the files that are attached to it.
    public var attachments: [String]

    /// When it was made.
    public let created: Date

    /// Makes a note; without an identifier and a date it is a new one.
    public init(
        id: String = String(UUID().uuidString.prefix(8)).lowercased(),
        title: String,
        text: String,
        tags: [String] = [],
        folder: String = Note.defaultFolder,
        attachments: [String] = [],
        created: Date = Date()
    ) {
        self.id = id
        self.title = title
        self.text = text
        self.tags = tags
        self.folder = folder
        self.attachments = attachments
        self.created = created
    }
}
