internal import MigrationArchive
internal import MigrationSystem

/// Remembers which files of a source an archive holds, whatever they are called in it.
///
/// Only a hash of each file's identity is kept, since an export may have millions.
struct ArchivedFiles {
    private var hashes: Set<Int> = []
    private let output: FileStatus.Identity?

    /// Remembers files beside the archive's own, which is `output`.
    init(apartFrom output: FileStatus.Identity?) {
        self.output = output
    }

    mutating func insert(_ status: FileStatus) {
        hashes.insert(status.identity.hashValue)
    }

    func contains(_ status: FileStatus) -> Bool {
        hashes.contains(status.identity.hashValue)
    }

    /// Whether the file is the archive itself.
    func isOutput(_ status: FileStatus) -> Bool { status.identity == output }
}

/// Remembers where files with several names were archived first, until the last name was seen.
struct HardLinkTable {
    private struct Slot {
        let path: EntryPath
        var remaining: UInt64
    }

    private var slots: [FileStatus.Identity: Slot] = [:]

    /// Returns the path under which the file was archived; `nil` for the first of its names.
    mutating func takePath(of status: FileStatus) -> EntryPath? {
        guard status.linkCount > 1, var slot = slots[status.identity] else { return nil }
        slot.remaining -= 1
        slots[status.identity] = slot.remaining > 0 ? slot : nil
        return slot.path
    }

    /// Takes note that the first name of the file is being archived at `path`.
    mutating func remember(_ status: FileStatus, at path: EntryPath) {
        guard status.linkCount > 1 else { return }
        slots[status.identity] = Slot(path: path, remaining: status.linkCount - 1)
    }
}
