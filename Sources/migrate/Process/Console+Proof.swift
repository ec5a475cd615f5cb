import MigrationCore

extension Console {
    /// Says what an archive of another program lacks that would prove it complete.
    func logMissingProof(of archive: ArchiveName, _ report: ImportReport) {
        if report.fingerprint == nil { logMissingFingerprint(of: archive) }
        guard report.lacksEndMark else { return }
        log("migrate: warning: \(archive.sourceText) has no end mark: it may have been cut short")
    }

    /// Says that an archive of another program proves nothing.
    func logMissingFingerprint(of archive: ArchiveName) {
        log(
            "migrate: note: \(archive.sourceText) carries no fingerprint: "
                + "nothing proves that it is complete"
        )
    }
}
