/// The description of an archive and the totals of its content.
public struct ArchiveInspection: Sendable {
    /// The header of the archive; `nil` for the tar file of another program.
    public let header: ArchiveHeader?

    /// The totals of its content; `nil` for the tar file of another program that was not read
    /// completely.
    public let totals: ArchiveTotals?

    /// The hash that identifies it; `nil` for the tar file of another program.
    ///
    /// If the archive was only inspected, the fingerprint comes from its end, and its frames were
    /// not checked.
    public let fingerprint: Fingerprint?

    /// The archive's size in bytes; `nil` for a pipe, unless it was verified.
    public let archiveBytes: UInt64?

    /// The bytes of the tar stream in it; `nil` for the tar file of another program.
    public let streamBytes: UInt64?

    /// The number of frames that hold the stream; `nil` for the tar file of another program.
    public let frameCount: Int?

    /// Whether the tar file of another program, read to its end, has no end mark, for example
    /// because it was cut short.
    public let lacksEndMark: Bool

    /// Whether bytes follow the end of a tar file of another program that was read to its end.
    public let hasTrailer: Bool

    /// Whether it is an Android backup, which `migrate android convert` turns into an archive.
    public let isAndroidBackup: Bool

    package init(
        header: ArchiveHeader?,
        totals: ArchiveTotals?,
        fingerprint: Fingerprint?,
        archiveBytes: UInt64?,
        streamBytes: UInt64?,
        frameCount: Int?,
        lacksEndMark: Bool,
        hasTrailer: Bool,
        isAndroidBackup: Bool
    ) {
        self.header = header
        self.totals = totals
        self.fingerprint = fingerprint
        self.archiveBytes = archiveBytes
        self.streamBytes = streamBytes
        self.frameCount = frameCount
        self.lacksEndMark = lacksEndMark
        self.hasTrailer = hasTrailer
        self.isAndroidBackup = isAndroidBackup
    }

    /// The description of the archive that `reader` reads.
    package init(_ reader: ArchiveReader, totals: ArchiveTotals?, archiveBytes: UInt64?) {
        self.init(
            header: reader.header,
            totals: totals,
            fingerprint: reader.fingerprint,
            archiveBytes: archiveBytes,
            streamBytes: reader.streamBytes,
            frameCount: reader.frameCount,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup
        )
    }
}
