package import MigrationArchive
internal import MigrationSystem

/// Remembers the paths in an archive, so that none is written twice and each has its directories.
///
/// Only a hash of each path is kept, since an export may have millions. Of a million paths, a
/// chance of one in 30 million is left that some path is taken for another and refused.
package struct ArchivedPaths {
    /// Whether a directory is archived under a path, by the path's hash.
    private var isDirectory: [Int: Bool] = [:]
    /// The directory of the last entry, which the next one mostly has too.
    private var lastParent: ArraySlice<UInt8>?

    package init() {}

    /// Adds the path of an entry that is about to be written, and the directories that it lacks.
    ///
    /// - Returns: The directories on the way to `path` that no entry made yet, from the root down.
    ///   Each is made when it is asked for: all paths above a deep one take much more memory than
    ///   it does.
    /// - Throws: `ArchiveError` of code `entryExists` where `path` is taken, or a file is in its
    ///   way; nothing is added then.
    package mutating func insert(
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
