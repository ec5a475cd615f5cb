public import Foundation

/// The app group that the app shares with its widget.
public struct SharedGroup: Sendable {
    /// The identifier of the group.
    public static let identifier = "group.com.example.notes"

    private let directory: URL

    private var snapshotFile: URL { directory.appending(path: "widget.json") }

    /// The group in the directory that the system names.
    public init(in directory: URL) {
        self.directory = directory
    }

    /// Removes everything that the group holds.
    public func clear() throws {
        for item in try directory.contents() {
            try FileManager.default.removeItem(at: item)
        }
    }

    /// Shows the newest notes in the widget.
    public func update(with notes: [Note]) throws {
        let latest = notes.sorted { $0.created > $1.created }.prefix(3)
        try JSONFile.write(WidgetSnapshot(titles: latest.map(\.title)), to: snapshotFile)
    }

    /// The content of the widget; `nil` before the app has written any.
    public func snapshot() throws -> WidgetSnapshot? {
        guard FileManager.default.fileExists(atPath: snapshotFile.path) else { return nil }
        return try JSONFile.read(WidgetSnapshot.self, from: snapshotFile)
    }
}

/// The content of the app's widget.
public struct WidgetSnapshot: Codable, Equatable, Sendable {
    /// The titles of the latest notes.
    public let titles: [String]
}
