public import MigrationArchive

/// Something in which an archive and a container differ.
public struct ArchiveDifference: Hashable, Sendable {
    /// What differs.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The archive holds the entry, the container does not.
        case onlyInArchive

        /// The container holds the entry, the archive does not.
        case onlyInContainer

        /// One is a file, a directory or a link, the other something else.
        case kind

        /// The bytes of a file.
        case content

        /// The permission bits.
        case permissions

        /// The time of the last change, to the nanosecond.
        case modificationTime

        /// Where a symbolic link leads.
        case linkTarget

        /// Which names stand for the same file.
        case hardLink

        /// The extended attributes of the `user.` namespace.
        case extendedAttributes
    }

    /// The entry that differs.
    public let path: EntryPath

    /// What differs.
    public let kind: Kind

    /// What each side has, as it may be printed; empty where the kind says it all.
    public let detail: String
}
