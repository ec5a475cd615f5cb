/// Something in a container that an archive does not hold, or that an import did not restore.
public struct Omission: Hashable, Sendable, Codable {
    /// Why something was left out.
    public enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
        /// Caches, temporary files, the system's own data, or the container's own bookkeeping.
        case leftOutByDefault

        /// A pattern that the person gave.
        case excluded

        /// A socket, a FIFO or a device, which no archive holds.
        case specialFile

        /// An extended attribute outside the `user.` namespace, or an access control list.
        case extendedAttribute

        /// Set-user-id, set-group-id or sticky bits, which are not restored.
        case specialPermissions

        /// A file or a directory that the container's owner, for whom root exported, can't read.
        case unreadableToOwner

        /// A symbolic link that leads out of the container, left out because the person asked for it.
        case externalLink

        /// An app group that the person left out; the path is its identifier.
        case applicationGroup
    }

    /// The path, as it may be printed, relative to the container.
    public let path: String

    /// Why it was left out.
    public let reason: Reason

    /// The bytes of content that an export left out, with everything below the path; 0 for an import.
    public let bytes: UInt64

    /// What exactly was left out, where the path does not say it: the name of an attribute, say.
    public let detail: String?

    package init(path: String, reason: Reason, bytes: UInt64, detail: String?) {
        self.path = path
        self.reason = reason
        self.bytes = bytes
        self.detail = detail
    }
}
