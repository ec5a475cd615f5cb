public import MigrationContract

extension MigrationStatus {
    /// How the import ended; `nil` where none did since the status was cleared.
    ///
    /// The error of a failure is an `NSError` with the domain, the code and the description of what
    /// was thrown, and as much of its other information as ``PersistedError`` carries, or a ``MigrationError`` of code `interrupted` where the import was cut off. Where the
    /// persisted status can't be read, the result is a failure with a ``MigrationError`` of code
    /// `statusUnreadable`, or `containerInvalid` where there is no container, and the status stays as
    /// it is.
    public static var importStatus: MigrationStatus? {
        do {
            guard let container = try container, let record = try container.importRecord() else {
                return nil
            }
            // A container that takes no changes has a status all the same.
            try? container.noteReading(of: record)
            return MigrationStatus(record)
        } catch {
            return .failure(error)
        }
    }

    /// Sets the status to `nil`, because the person was told.
    ///
    /// Where the status can't be removed it stays; ``MigrationDataContainer/clearImportRecord()`` says why.
    public static func clearImportStatus() {
        // Apple's interface has no way to report a failure here; the status then stays set.
        try? container?.clearImportRecord()
    }
}
