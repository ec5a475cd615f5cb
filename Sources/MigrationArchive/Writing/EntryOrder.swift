internal import MigrationSystem

/// Checks that entries are appended in the order of a tree: each after its directory, each path once.
///
/// Only the directories above the last entry are remembered, so that the check needs no more memory
/// for more entries.
struct EntryOrder {
    private var last: EntryPath?
    private var directories: [EntryPath] = []

    /// Throws unless `entry` can be archived and may follow the entries before it.
    mutating func check(_ entry: ArchiveEntry) throws(ArchiveError) {
        if let violation = entry.violation { throw Self.unrepresentable(violation, entry: entry) }
        guard entry.permissions <= 0o7777, entry.modificationTime.nanoseconds < 1_000_000_000 else {
            throw Self.unrepresentable("the permissions or the time are out of range", entry: entry)
        }
        if let last, !last.precedesInTree(entry.path) {
            if last == entry.path {
                throw ArchiveError(.entryExists, "the path was appended before", entry: last)
            }
            let message =
                "entries must be appended in tree order, but this one comes before \(last)"
            throw Self.unrepresentable(message, entry: entry)
        }
        let index = directories.lastIndex(where: entry.path.isEqual(toOrBelow:))
        let above = directories.prefix(index.map { $0 + 1 } ?? 0)
        guard entry.path.parent == above.last else {
            throw Self.unrepresentable("its directory must be appended before it", entry: entry)
        }
        directories.removeLast(directories.count - above.count)
        if entry.kind == .directory { directories.append(entry.path) }
        last = entry.path
    }

    private static func unrepresentable(_ reason: String, entry: ArchiveEntry) -> ArchiveError {
        ArchiveError(.unrepresentable, "can't be archived: \(reason)", entry: entry.path)
    }
}
