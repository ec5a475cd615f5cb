import MigrationArchive
import MigrationSystem
import Testing

@testable import AndroidMigration

/// The entries of a backup as a list shows them.
struct BackupEntryTests {
    private func entry(_ path: String, _ typeFlag: UInt8) -> ArchiveEntry? {
        BackupEntry(
            path: [UInt8](path.utf8),
            typeFlag: typeFlag,
            size: 7,
            permissions: 0o600,
            modificationTime: 5,
            contentOffset: 512
        ).archiveEntry
    }

    @Test func `have the path, the kind and the size of the backup`() {
        let file = entry("apps/a/f/x", TypeFlag.regular)
        #expect(file?.path == EntryPath("apps/a/f/x") && file?.kind == .file(size: 7))
        #expect(file?.permissions == 0o600 && file?.modificationTime.seconds == 5)
        let directory = entry("apps/a/f/", TypeFlag.directory)
        #expect(directory?.path == EntryPath("apps/a/f") && directory?.kind == .directory)
    }

    @Test func `are left out where they have no path`() {
        #expect(entry("", TypeFlag.regular) == nil)
    }
}
