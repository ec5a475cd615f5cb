public import MigrationArchive

/// What an import or an extraction did.
public struct ImportReport: Sendable {
    /// What the archive says of itself; `nil` for a tar file of another program.
    public let header: ArchiveHeader?

    /// The hash that proved the archive whole; `nil` for a tar file of another program, which carries no proof.
    public let fingerprint: Fingerprint?

    /// Whether a tar file of another program ended without its end mark, as one does that was cut short.
    public let lacksEndMark: Bool

    /// Whether bytes follow the end of a tar file of another program, which were not restored.
    public let hasTrailer: Bool

    /// Whether what was extracted is the backup of an Android app, still in Android's layout.
    public let isAndroidBackup: Bool

    /// How much was restored.
    public let totals: ArchiveTotals

    /// What the archive holds and was not restored.
    public let omissions: OmissionList

    /// Why data that this import replaced, or that an earlier one left, could not be removed.
    ///
    /// Each names where it lies, in the container's `.migration` or beside the container. It does no
    /// harm there, and the next command tries again.
    public internal(set) var leftovers: [MigrationError] = []

    /// Whether the container held data that this import replaced.
    public let replacedData: Bool

    /// What the session with the app's extension showed; `nil` where the whole container was imported.
    public let appExtension: ExtensionReport?
}
