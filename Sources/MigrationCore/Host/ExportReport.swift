public import MigrationArchive

/// What an export did.
public struct ExportReport: Sendable {
    /// What the archive says of itself.
    public let header: ArchiveHeader

    /// How much was archived.
    public let totals: ArchiveTotals

    /// The archive's size in bytes.
    public let archiveBytes: UInt64

    /// The bytes of the tar stream: the content, and what stands before each entry.
    public let streamBytes: UInt64

    /// What compression made of the stream, without what the archive puts around it.
    ///
    /// It is never more than the stream: a piece that compression makes no smaller counts as it is.
    public let compressedStreamBytes: UInt64

    /// The hash that stands for the archive.
    public let fingerprint: Fingerprint

    /// What the container holds and the archive does not.
    public let omissions: OmissionList

    /// Symbolic links that were archived but lead out of the container, at most 1,000 of them, printable.
    public let externalLinks: [String]

    /// How many symbolic links lead out of the container.
    public let externalLinkCount: Int

    /// What the container and the app groups hold and the app's extension did not append; `nil` where the
    /// whole container was exported.
    public let leftBehind: LeftBehind?

    /// What the session with the app's extension showed; `nil` where the whole container was exported.
    public let appExtension: ExtensionReport?
}
