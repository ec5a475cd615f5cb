public import Foundation

/// The person's settings.
public struct Settings: Codable, Equatable, Sendable {
    /// The sort order of the list.
    public var sortOrder = "title"

    /// Whether the list shows finished to-dos.
    public var showsDone = true

    /// The number of minutes between a reminder and the time when a to-do is due.
    public var minutesToRemind = 10

    /// The text size as a factor of the system's size.
    public var textScale = 1.0

    /// The lists that stay on top.
    public var pinnedLists: Set<String> = []

    /// The file in ``StoreLayout/sounds`` that a reminder plays.
    public var sound: String?

    /// The settings of a new app.
    public init() {}

    /// Reads the settings that are stored in `file`.
    public init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(Settings.self, from: Data(contentsOf: file))
    }

    /// Stores the settings in `file`.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}
