import MigrationArchive

extension Error {
    /// Whether the fault is with the place that is written to, whatever the archive holds.
    var isOfOutput: Bool {
        guard let error = self as? ArchiveError else { return false }
        return error.code == .outOfSpace || error.code == .outputFailed
    }
}
