internal import MigrationArchive
internal import MigrationSystem

// MARK: - Hard links

/// The first archived path of each file with several names, until its last name was seen.
struct HardLinkTable {
    private var slots: [FileStatus.Identity: (path: EntryPath, remaining: UInt64)] = [:]

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
        slots[status.identity] = (path, status.linkCount - 1)
    }
}

// MARK: - Implied directories

/// The directories that an extension did not append itself, only items in them.
///
/// Such a directory gets its entry when the next item is outside it. Only one path is kept for all
/// directories above an item, because a deep item has thousands.
struct ImpliedDirectories {
    private struct Directory {
        /// The length of the directory's own path.
        let length: Int
        let time: FileTime
        let owner: FileOwner?
    }

    /// The last item, and the directories above it, from the root down.
    private var path: [UInt8] = []
    private var entered: [Directory] = []
    /// The directories that were left and have no entry yet.
    private var left: [(path: [UInt8], directories: [Directory])] = []

    /// Moves to the item at `path`; the directories above it whose paths have these lengths have no entry.
    mutating func enter(
        _ path: EntryPath,
        missing lengths: [Int],
        _ item: (time: FileTime, owner: FileOwner?)
    ) {
        guard !lengths.isEmpty else { return }
        leave(for: path)
        self.path = path.bytes
        entered += lengths.map {
            Directory(length: $0, time: item.time, owner: item.owner)
        }
    }

    /// Leaves the directories that don't contain `path`; for `nil`, all of them.
    mutating func leave(for path: EntryPath?) {
        guard let last = entered.last, path.map({ !lies($0, in: last) }) ?? true else { return }
        let kept = entered.prefix { directory in path.map { lies($0, in: directory) } ?? false }
        left.append((self.path, Array(entered[kept.count...])))
        entered.removeSubrange(kept.count...)
    }

    private func lies(_ item: EntryPath, in directory: Directory) -> Bool {
        let bytes = item.bytes
        guard bytes.count >= directory.length,
            bytes.count == directory.length || bytes[directory.length] == UInt8(ascii: "/")
        else { return false }
        return bytes[..<directory.length] == path[..<directory.length]
    }

    /// Takes the next directory that was left, the deepest first.
    mutating func next() -> ArchiveEntry? {
        while let first = left.first, first.directories.isEmpty { left.removeFirst() }
        guard !left.isEmpty, let directory = left[0].directories.popLast() else { return nil }
        return ArchiveEntry(
            path: EntryPath(bytes: [UInt8](left[0].path[..<directory.length])),
            kind: .directory,
            permissions: 0o755,
            modificationTime: directory.time,
            owner: directory.owner
        )
    }
}
