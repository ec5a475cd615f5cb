internal import MigrationArchive
internal import MigrationSystem

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
