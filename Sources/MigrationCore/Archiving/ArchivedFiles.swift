internal import MigrationArchive
package import MigrationSystem

/// The source files that an archive holds, under any name.
///
/// Only a hash of each file's identity is kept, because an export may have millions.
package struct ArchivedFiles {
    private var hashes: Set<Int> = []
    private let output: FileStatus.Identity?

    /// Makes an empty set for the archive whose own file is `output`.
    init(apartFrom output: FileStatus.Identity?) {
        self.output = output
    }

    mutating func insert(_ status: FileStatus) {
        hashes.insert(status.identity.hashValue)
    }

    package func contains(_ status: FileStatus) -> Bool {
        hashes.contains(status.identity.hashValue)
    }

    /// Whether the file is the archive itself.
    package func isOutput(_ status: FileStatus) -> Bool { status.identity == output }
}

/// The first archived path of each file with several names, until its last name was seen.
struct HardLinkTable {
    private struct Slot {
        let path: EntryPath
        var remaining: UInt64
    }

    private var slots: [FileStatus.Identity: Slot] = [:]

    /// The path under which the file was archived; `nil` for the first of its names.
    mutating func nextPath(of status: FileStatus) -> EntryPath? {
        guard status.linkCount > 1, var slot = slots[status.identity] else { return nil }
        slot.remaining -= 1
        slots[status.identity] = slot.remaining > 0 ? slot : nil
        return slot.path
    }

    /// Records that the first name of the file is archived at `path`.
    mutating func remember(_ status: FileStatus, at path: EntryPath) {
        guard status.linkCount > 1 else { return }
        slots[status.identity] = Slot(path: path, remaining: status.linkCount - 1)
    }
}
