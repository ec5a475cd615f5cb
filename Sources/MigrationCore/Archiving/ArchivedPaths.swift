internal import MigrationArchive
internal import MigrationSystem

/// Remembers the paths in an archive, so that none is written twice and each has its directories.
///
/// Only a hash of each path is kept, since an export may have millions. Of a million paths, a chance of
/// one in 30 million is left that some path is taken for another and refused.
struct ArchivedPaths {
    /// Whether a directory is archived under a path, by the path's hash.
    private var isDirectory: [Int: Bool] = [:]
    /// The directory of the last entry, which the next one mostly has too.
    private var lastParent: ArraySlice<UInt8>?

    /// Adds the path of an entry that is about to be written, and the directories that it lacks.
    ///
    /// - Returns: The directories on the way to `path` that no entry made yet, from the root down. Each is
    ///   made when it is asked for: all paths above a deep one take much more memory than it does.
    /// - Throws: `ArchiveError` of code `entryExists` where `path` is taken, or a file is in its way;
    ///   nothing is added then.
    mutating func insert(
        _ path: EntryPath,
        isDirectory isOfDirectory: Bool
    ) throws(ArchiveError) -> LazyMapSequence<[Int], EntryPath> {
        let hash = path.hashValue
        guard isDirectory[hash] == nil else {
            throw ArchiveError(.entryExists, "is in the archive already", entry: path)
        }
        let parent = path.bytes.dropLast(path.lastComponent.count)
        let hasKnownParent = lastParent?.span.isEqual(to: parent.span) ?? false
        let missing = hasKnownParent ? [] : try missingDirectories(for: path)
        for (_, hash) in missing { isDirectory[hash] = true }
        isDirectory[hash] = isOfDirectory
        if !hasKnownParent { lastParent = parent }
        return missing.map(\.length).lazy.map { EntryPath(bytes: [UInt8](path.bytes.prefix($0))) }
    }

    /// The length and the hash of the path of each directory that `path` lacks, from the root down.
    private func missingDirectories(
        for path: EntryPath
    ) throws(ArchiveError) -> [(length: Int, hash: Int)] {
        var missing: [(length: Int, hash: Int)] = []
        var next = path.parent
        while let directory = next {
            let hash = directory.hashValue
            if let isDirectory = isDirectory[hash] {
                if isDirectory { break }
                let message = "can't be archived: \(directory) is no directory in the archive"
                throw ArchiveError(.entryExists, message, entry: path)
            }
            missing.append((directory.bytes.count, hash))
            next = directory.parent
        }
        return missing.reversed()
    }
}

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
