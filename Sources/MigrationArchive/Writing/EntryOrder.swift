internal import MigrationSystem

/// Checks that entries are appended in tree order: each after its directory, each path once.
///
/// Directories are held back until everything in them was appended, because restoring an entry in a
/// directory changes its time. Only those above the last entry are held, so the memory doesn't grow
/// with the number of entries.
struct EntryOrder {
    private var last: EntryPath?
    private var directories: [ArchiveEntry] = []

    /// Accepts `entry`, unless it can't be archived or may not follow the entries before it.
    ///
    /// - Returns: The entries to write, in their order; a directory is not among them yet.
    mutating func take(_ entry: ArchiveEntry) throws(ArchiveError) -> [ArchiveEntry] {
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
        let index = directories.lastIndex { entry.path.isEqual(toOrBelow: $0.path) }
        let depth = index.map { $0 + 1 } ?? 0
        guard entry.path.parent == directories.prefix(depth).last?.path else {
            throw Self.unrepresentable("its directory must be appended before it", entry: entry)
        }
        var ready = takeDirectories(below: depth)
        if entry.kind == .directory { directories.append(entry) } else { ready.append(entry) }
        last = entry.path
        return ready
    }

    /// Takes the directories that are still held, in the order of writing.
    mutating func takeRest() -> [ArchiveEntry] { takeDirectories(below: 0) }

    private mutating func takeDirectories(below depth: Int) -> [ArchiveEntry] {
        defer { directories.removeLast(directories.count - depth) }
        return directories[depth...].reversed()
    }

    private static func unrepresentable(_ reason: String, entry: ArchiveEntry) -> ArchiveError {
        ArchiveError(.unrepresentable, "can't be archived: \(reason)", entry: entry.path)
    }
}
