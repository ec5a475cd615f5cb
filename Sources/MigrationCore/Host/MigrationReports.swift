public import MigrationArchive

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

        /// A symbolic link that leads out of the container, left out because the person asked for it.
        case externalLink
    }

    /// The path, as it may be printed, relative to the container.
    public let path: String

    /// Why it was left out.
    public let reason: Reason

    /// The bytes of content that an export left out, with everything below the path; 0 for an import.
    public let bytes: UInt64

    /// What exactly was left out, where the path does not say it: the name of an attribute, say.
    public let detail: String?
}

/// Everything that was left out, in full up to a bound and counted beyond it.
public struct OmissionList: Sendable, Codable {
    /// The first omissions, at most 1,000 of them.
    public private(set) var items: [Omission] = []

    /// How many omissions there are in all.
    public private(set) var count = 0

    /// The bytes of content in all omissions.
    public private(set) var bytes: UInt64 = 0

    /// Makes an empty list.
    public init() {}

    package mutating func append(_ omission: Omission) {
        count += 1
        bytes += omission.bytes
        if items.count < 1_000 { items.append(omission) }
    }

    /// Counts omissions of which nothing else is known any more.
    mutating func countFurther(_ number: Int) {
        count += number
    }
}

/// What an export did.
public struct ExportReport: Sendable {
    /// What the archive says of itself.
    public let header: ArchiveHeader

    /// How much was archived.
    public let totals: ArchiveTotals

    /// The archive's size in bytes.
    public let archiveBytes: UInt64

    /// The hash that stands for the archive.
    public let fingerprint: Fingerprint

    /// What the container holds and the archive does not.
    public let omissions: OmissionList

    /// Symbolic links that were archived but lead out of the container, at most 1,000 of them, printable.
    public let externalLinks: [String]

    /// What the session with the app's extension showed; `nil` where the whole container was exported.
    public let appExtension: ExtensionReport?
}

/// What an import or an extraction did.
public struct ImportReport: Sendable {
    /// What the archive says of itself; `nil` for a tar file of another program.
    public let header: ArchiveHeader?

    /// The hash that proved the archive whole; `nil` for a tar file of another program, which carries no proof.
    public let fingerprint: Fingerprint?

    /// Whether a tar file of another program ended without its end mark, as one does that was cut short.
    public let lacksEndMark: Bool

    /// How much was restored.
    public let totals: ArchiveTotals

    /// What the archive holds and was not restored.
    public let omissions: OmissionList

    /// Whether the container held data that this import replaced.
    public let replacedData: Bool

    /// What the session with the app's extension showed; `nil` where the whole container was imported.
    public let appExtension: ExtensionReport?
}
