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
    /// - Returns: The directories on the way to `path` that no entry made yet, from the root down.
    /// - Throws: `ArchiveError` of code `entryExists` where `path` is taken, or a file is in its way;
    ///   nothing is added then.
    mutating func insert(
        _ path: EntryPath,
        isDirectory isOfDirectory: Bool
    ) throws(ArchiveError) -> [EntryPath] {
        let hash = path.hashValue
        guard isDirectory[hash] == nil else {
            throw ArchiveError(.entryExists, "is in the archive already", entry: path)
        }
        let parent = path.bytes.dropLast(path.lastComponent.count)
        let hasKnownParent = lastParent?.span.isEqual(to: parent.span) ?? false
        let missing = hasKnownParent ? [] : try missingDirectories(for: path)
        for directory in missing { isDirectory[directory.hashValue] = true }
        isDirectory[hash] = isOfDirectory
        if !hasKnownParent { lastParent = parent }
        return missing
    }

    private func missingDirectories(for path: EntryPath) throws(ArchiveError) -> [EntryPath] {
        var missing: [EntryPath] = []
        var next = path.parent
        while let directory = next {
            if let isDirectory = isDirectory[directory.hashValue] {
                if isDirectory { break }
                let message = "can't be archived: \(directory) is no directory in the archive"
                throw ArchiveError(.entryExists, message, entry: path)
            }
            missing.append(directory)
            next = directory.parent
        }
        return missing.reversed()
    }
}
