public import MigrationArchive

/// What an archive says of itself and what it holds.
public struct ArchiveInspection: Sendable {
    /// What the archive says of itself; `nil` for the tar file of another program.
    public let header: ArchiveHeader?

    /// How much it holds; `nil` for the tar file of another program that was not read through.
    public let totals: ArchiveTotals?

    /// The hash that stands for it; `nil` for the tar file of another program.
    ///
    /// Where the archive was only inspected, this is what its end says; its frames were not checked.
    public let fingerprint: Fingerprint?

    /// The archive's size in bytes; `nil` from a pipe, but for one that was verified.
    public let archiveBytes: UInt64?

    /// The bytes of the tar stream in it; `nil` for the tar file of another program.
    public let streamBytes: UInt64?

    /// The number of frames that hold the stream; `nil` for the tar file of another program.
    public let frameCount: Int?

    /// Whether the tar file of another program, read to its end, has no mark there, as one that was
    /// cut short has none.
    public let lacksEndMark: Bool

    /// Whether bytes follow the end of a tar file of another program that was read to its end.
    public let hasTrailer: Bool

    /// Whether it is the backup of an Android app, which `migrate android convert` makes an archive of.
    public let isAndroidBackup: Bool
}
