internal import MigrationArchive
internal import MigrationSystem

/// A directory that was walked, and what it was before.
struct WalkedDirectory {
    let path: ByteString
    let opened: OpenFile
    let status: FileStatus

    /// Throws where entries came or went meanwhile.
    func checkIsUnchanged() throws(ArchiveError) {
        let now: FileStatus
        do throws(SystemError) {
            now = try opened.descriptor.status()
        } catch {
            throw SourceWalker.unreadable(path, error)
        }
        guard now.isUnchanged(since: status) else { throw SourceWalker.changed(path) }
    }
}
