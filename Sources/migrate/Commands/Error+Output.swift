import MigrationArchive

extension ArchiveError {
    /// Whether the fault is with the place that is written to, whatever the archive holds.
    var isOfOutput: Bool { code == .outOfSpace || code == .outputFailed }
}
