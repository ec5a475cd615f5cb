internal import Foundation

extension Error {
    /// What the error says to a person.
    ///
    /// Foundation on Linux does not ask a `LocalizedError` that is a `CustomNSError` as well.
    var wording: String {
        let bridged = self as NSError
        if bridged.userInfo[NSLocalizedDescriptionKey] == nil,
            let description = (self as? any LocalizedError)?.errorDescription
        {
            return description
        }
        return bridged.localizedDescription
    }
}
