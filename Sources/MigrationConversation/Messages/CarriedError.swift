internal import Foundation
internal import MigrationArchive
internal import MigrationContract
internal import MigrationSystem

/// An error that a host and an extension's process send each other.
package struct CarriedError: Codable, Sendable {
    private enum Kind: String, Codable {
        case archive
        case cancellation
        case migration
        case other
    }

    private let kind: Kind
    private let error: PersistedError
    private let path: Data?

    package init(_ error: any Error) {
        switch error {
        case is CancellationError:
            (kind, path) = (.cancellation, nil)
            self.error = PersistedError(error)
        case let error as ArchiveError:
            (kind, path) = (.archive, error.entry.map { Data(BoundedText.path($0.bytes)) })
            let text = error.message + (error.cause.map { ": \($0)" } ?? "")
            self.error = PersistedError(text, of: error)
        case let error as MigrationError:
            (kind, path) = (.migration, error.bytePath.map { Data(BoundedText.path($0.bytes)) })
            self.error = PersistedError(error.wordsForPerson, of: error)
        default:
            (kind, path) = (.other, nil)
            self.error = PersistedError(error)
        }
    }

    /// The error that was sent: this project's errors unchanged, others as an `NSError`.
    ///
    /// Its texts are shortened again, because the sender isn't trusted.
    package var carried: any Error {
        let path = path.map { BoundedText.path([UInt8]($0)) }
        switch kind {
        case .cancellation: return CancellationError()
        case .archive:
            if let code = ArchiveError.Code(number: error.code) {
                let entry = path.map { EntryPath(bytes: $0) }
                return ArchiveError(code, error.description, entry: entry)
            }
        case .migration:
            if let code = MigrationError.Code(number: error.code) {
                return MigrationError(code, error.description, path: path.map { BytePath($0) })
            }
        case .other: break
        }
        return PersistedError(error.error).error
    }
}

extension PersistedError {
    /// Makes the persisted form of one of this project's errors, with a description without its
    /// path.
    fileprivate init(_ text: String, of error: any Error) {
        let bridged = error as NSError
        self.init(domain: bridged.domain, code: bridged.code, description: text)
    }
}
