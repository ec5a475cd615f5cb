import Foundation

/// Why the lists can't be imported, in words that a person who sees them at the next launch understands.
enum TasksMigrationError: Error, Equatable {
    /// The data comes from an app that it is not taken from.
    case untrustedSource(String)

    /// The app on Android is of a version whose data this one doesn't know.
    case unknownVersion(String)

    /// The lists did not come along.
    case noTasks

    /// The lists came in a schema that this app does not know, or damaged.
    case unusableTasks(String)

    /// A file of settings is not what Android writes.
    case unreadablePreferences(String)
}

extension TasksMigrationError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .untrustedSource(let app):
            "The data comes from “\(app)”, which is not Tasks for Android."
        case .unknownVersion(let version):
            "Tasks for Android keeps its data in format \(version), which this version can't read."
        case .noTasks: "The transfer brought no lists."
        case .unusableTasks(let reason): "The lists can't be used: \(reason)."
        case .unreadablePreferences(let file): "The settings in “\(file)” can't be read."
        }
    }

    var recoverySuggestion: String? {
        switch self {
        case .untrustedSource: nil
        case .unknownVersion: "Update Tasks on both devices, and transfer again."
        default: "Open Tasks on the other device once, and transfer again."
        }
    }
}
