public import Foundation

#if !canImport(Darwin)
extension FileManager {
    /// Returns the directory of an app group that the session grants the extension, else `nil`.
    ///
    /// Corresponds to Foundation's method of that name, which Linux lacks. The directory is not cleared
    /// when an import fails. In an extension that runs in its host's process, call it in the task that
    /// the host called, or in a child of it.
    ///
    /// - Parameter groupIdentifier: The identifier of the app group.
    /// - Returns: The group's directory; `nil` outside a session and for a group that it does not grant.
    public func containerURL(
        forSecurityApplicationGroupIdentifier groupIdentifier: String
    ) -> URL? {
        ExtensionContext.hosted?.groups[groupIdentifier]
    }
}
#endif
