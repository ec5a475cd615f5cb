internal import Foundation
internal import MigrationArchive

/// An error on its way between a host and an extension's process.
struct CarriedError: Codable, Sendable {
    private enum Kind: String, Codable {
        case archive
        case cancellation
        case migration
        case other
    }

    private let kind: Kind
    private let domain: String
    private let code: Int
    private let description: String
    private let path: Data?

    init(_ error: any Error) {
        let bridged = error as NSError
        domain = ErrorText.domain(bridged.domain)
        code = bridged.code
        let text: String
        switch error {
        case is CancellationError:
            (kind, text, path) = (.cancellation, "the operation was cancelled", nil)
        case let error as ArchiveError:
            (kind, path) = (.archive, error.entry.map { Data(ErrorText.path($0.bytes)) })
            text = error.message + (error.cause.map { ": \($0)" } ?? "")
        case let error as MigrationError:
            (kind, path) = (.migration, error.pathBytes.map { Data(ErrorText.path($0)) })
            text = error.message + (error.cause.map { ": \($0)" } ?? "")
        default: (kind, text, path) = (.other, error.wording, nil)
        }
        description = ErrorText.description(text)
    }

    /// The error again: one of the project's own as it was, another as an `NSError`.
    ///
    /// Whoever sent it may have said as much as a message holds.
    var error: any Error {
        let description = ErrorText.description(description)
        let domain = ErrorText.domain(domain)
        let path = path.map { ErrorText.path([UInt8]($0)) }
        switch kind {
        case .cancellation: return CancellationError()
        case .archive:
            if let code = ArchiveError.Code(number: code) {
                return ArchiveError(code, description, entry: path.map { EntryPath(bytes: $0) })
            }
        case .migration:
            if let code = MigrationError.Code(number: code) {
                return MigrationError(code, description, path: path)
            }
        case .other: break
        }
        let information = [NSLocalizedDescriptionKey: description]
        return NSError(domain: domain, code: code, userInfo: information)
    }
}
