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
    mutating func firstPath(of status: FileStatus, nowAt path: EntryPath) -> EntryPath? {
        guard status.linkCount > 1 else { return nil }
        guard var slot = slots[status.identity] else {
            slots[status.identity] = Slot(path: path, remaining: status.linkCount - 1)
            return nil
        }
        slot.remaining -= 1
        slots[status.identity] = slot.remaining > 0 ? slot : nil
        return slot.path
    }
}
