internal import MigrationArchive

/// Remembers the paths in an archive, so that none is written twice and each has its directories.
///
/// Only a hash of each path is kept, since an export may have millions. Of a million paths, a chance of
/// one in 30 million is left that some path is taken for another and refused.
struct ArchivedPaths {
    private var directories: Set<Int> = []
    private var others: Set<Int> = []
    /// The directory of the last entry, which the next one mostly has too.
    private var lastParent: EntryPath?

    /// The directories on the way to `path` that no entry made yet, from the root down.
    ///
    /// - Throws: `ArchiveError` of code `entryExists` where `path` is taken, or a file is in its way.
    mutating func missingDirectories(for path: EntryPath) throws(ArchiveError) -> [EntryPath] {
        let hash = path.hashValue
        guard !directories.contains(hash), !others.contains(hash) else {
            throw ArchiveError(.entryExists, "is in the archive already", entry: path)
        }
        if lastParent?.isParent(of: path) == true { return [] }
        guard let parent = path.parent else { return [] }
        var missing: [EntryPath] = []
        var next: EntryPath? = parent
        while let directory = next, !directories.contains(directory.hashValue) {
            guard !others.contains(directory.hashValue) else {
                let message = "can't be archived: \(directory) is no directory in the archive"
                throw ArchiveError(.entryExists, message, entry: path)
            }
            missing.append(directory)
            next = directory.parent
        }
        return missing.reversed()
    }

    /// Adds an entry that was written.
    mutating func insert(_ path: EntryPath, isDirectory: Bool) {
        if isDirectory {
            directories.insert(path.hashValue)
        } else {
            others.insert(path.hashValue)
            if lastParent?.isParent(of: path) != true { lastParent = path.parent }
        }
    }
}

extension EntryPath {
    /// Whether `path` is directly in this directory.
    fileprivate func isParent(of path: EntryPath) -> Bool {
        let (own, other) = (bytes, path.bytes)
        let slash = UInt8(ascii: "/")
        guard other.count > own.count + 1, other[own.count] == slash,
            other.lastIndex(of: slash) == own.count
        else { return false }
        return other.starts(with: own)
    }
}
