internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

extension Error {
    /// What the error says to a person.
    ///
    /// Foundation on Linux does not ask a `LocalizedError` that is a `CustomNSError` as well.
    package var wording: String {
        let bridged = self as NSError
        if bridged.userInfo[NSLocalizedDescriptionKey] == nil,
            let description = (self as? any LocalizedError)?.errorDescription
        {
            return description
        }
        return bridged.localizedDescription
    }

    /// What the error says to a person, without what only a developer can use.
    package var wordsForPerson: String {
        switch self {
        case is CancellationError: "the operation was cancelled"
        case let error as MigrationError: error.wordsForPerson
        case let error as ArchiveError: error.description
        case let error as SystemError: error.description
        default: wording
        }
    }

    /// What the error says in a report: its own words, or how it was written where it has none.
    package var wordsForReport: String {
        if self is CancellationError { return wordsForPerson }
        let hasWords =
            self is any LocalizedError || type(of: self) is NSError.Type
            || (self as NSError).userInfo[NSLocalizedDescriptionKey] != nil
        return hasWords ? wording : "\(self)"
    }
}
