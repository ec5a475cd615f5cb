public import Foundation

/// Why the notes can't be used.
public enum StoreError: Error, Equatable, Sendable {
    /// The notes are in a format that no step leads from.
    case unknownVersion(String)

    /// There is no note of that identifier.
    case noSuchNote(String)

    /// The file of that name holds no note.
    case unreadableNote(String)

    /// The reminders can't be read or kept, for the reason that SQLite gives.
    case database(String)
}

extension StoreError: LocalizedError {
    /// The message for the person.
    public var errorDescription: String? {
        switch self {
        case .unknownVersion(let version):
            """
            These notes are in format \(version), which this version of Notes can't read. \
            Update Notes and try again.
            """
        case .noSuchNote(let id): "There is no note “\(id)”."
        case .unreadableNote(let name): "The file “\(name)” holds no note."
        case .database(let reason): "The reminders can't be used: \(reason)."
        }
    }
}
