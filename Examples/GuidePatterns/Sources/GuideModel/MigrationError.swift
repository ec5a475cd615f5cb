import Foundation

/// An app's own error, as the documents declare one, in a module that the app shares with its
/// extension.
public enum MigrationError: LocalizedError {
    case incompatibleVersion(String)
    case untrustedSource(String)

    /// The error for a person.
    public var errorDescription: String? {
        switch self {
        case .incompatibleVersion(let version): "Data of version \(version) can't be imported."
        case .untrustedSource(let app): "\(app) is another app."
        }
    }
}
