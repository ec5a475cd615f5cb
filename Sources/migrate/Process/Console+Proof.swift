import MigrationArchive
import MigrationCore

extension Console {
    /// Says what an archive of another program lacks that would prove it complete.
    func logMissingProof(of archive: ArchiveName, _ report: ImportReport) {
        logMissingProof(
            of: archive,
            report.fingerprint,
            lacksEndMark: report.lacksEndMark,
            hasTrailer: report.hasTrailer,
            isAndroidBackup: report.isAndroidBackup
        )
    }

    /// Says what an archive of another program lacks that would prove it complete.
    func logMissingProof(of archive: ArchiveName, _ inspection: ArchiveInspection) {
        logMissingProof(
            of: archive,
            inspection.fingerprint,
            lacksEndMark: inspection.lacksEndMark,
            hasTrailer: inspection.hasTrailer,
            isAndroidBackup: inspection.isAndroidBackup
        )
    }

    private func logMissingProof(
        of archive: ArchiveName,
        _ fingerprint: Fingerprint?,
        lacksEndMark: Bool,
        hasTrailer: Bool,
        isAndroidBackup: Bool
    ) {
        let name = archive.sourceText
        if fingerprint == nil {
            log(
                "migrate: note: \(name) carries no fingerprint: "
                    + "nothing proves that it is complete"
            )
        }
        if isAndroidBackup {
            log(
                "migrate: warning: \(name) is a backup of Android's and was read as a tar file: make an "
                    + "archive of it with 'migrate android convert'"
            )
        }
        if lacksEndMark {
            log("migrate: warning: \(name) has no end mark: it may have been cut short")
        }
        if hasTrailer {
            log("migrate: warning: \(name) has bytes behind its end mark, which are not read")
        }
    }
}
