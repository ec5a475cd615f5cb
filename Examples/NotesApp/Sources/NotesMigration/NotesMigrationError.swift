import Foundation

/// Why notes can't be moved, in words for the person who reads them at the next launch.
enum NotesMigrationError: Error, Equatable {
    /// There is no Notes app on that platform.
    case noAppThere(String)

    /// The notes come from an app that isn't trusted.
    case untrustedSource(String, platform: String, store: String)

    /// There is a file that belongs nowhere.
    case unknownFile(String)

    /// A file could not be put in its place.
    case notMoved(String, reason: String)
}

extension NotesMigrationError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .noAppThere(let platform): "There is no Notes app on \(platform)."
        case .untrustedSource(let app, let platform, let store):
            """
            The notes come from “\(app)” (platform \(platform), store \(store)), which is not the \
            Notes app for Android from Google Play.
            """
        case .unknownFile(let path): "The file “\(path)” is nothing that Notes can keep."
        case .notMoved(let path, let reason): "“\(path)” could not be put in its place: \(reason)"
        }
    }
}
