import Foundation

/// Why an import failed, in words for the person who reads them at the next launch.
enum TasksMigrationError: Error, Equatable {
    /// The data comes from another app.
    case untrustedSource(String)

    /// This app does not know the format of the data.
    case unknownVersion(String)

    /// The database is missing.
    case noTasks

    /// The database is damaged, or has another schema.
    case unusableTasks(String)

    /// A file of preferences is not what Android writes.
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
