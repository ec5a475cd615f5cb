internal import MigrationSystem

/// Remembers the paths in an archive, so that each is written once and has its directories.
///
/// It keeps only a hash of each path, because an export may have millions. With a million paths,
/// the probability of a collision, which refuses one, is one in 30 million.
package struct ArchivedPaths {
    /// Whether a directory is archived under a path, by the path's hash.
    private var isDirectory: [Int: Bool] = [:]
    /// The directory of the last entry; the next entry is usually in it too.
    private var lastParent: ArraySlice<UInt8>?

    package init() {}

    /// Adds the path of an entry that is about to be written, and its missing directories.
    ///
    /// - Returns: The lengths in bytes of the paths of the directories above `path` that have no
    ///   entry yet, from the root down. The paths themselves could take much more memory than
    ///   `path`.
    /// - Throws: `ArchiveError` of code `entryExists` if `path` exists, or if a file is above it;
    ///   then nothing is added.
    package mutating func insert(
        _ path: EntryPath,
        isDirectory isOfDirectory: Bool
    ) throws(ArchiveError) -> [Int] {
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
        return missing.map(\.length)
    }

    /// The length and the hash of the path of each missing directory of `path`, from the root down.
    private func missingDirectories(
        for path: EntryPath
    ) throws(ArchiveError) -> [(length: Int, hash: Int)] {
        var missing: [(length: Int, hash: Int)] = []
        var next = path.parent
        while let directory = next {
            let hash = directory.hashValue
            if let isDirectory = isDirectory[hash] {
                if isDirectory { break }
                let message = "can't be archived: \(directory) isn't a directory in the archive"
                throw ArchiveError(.entryExists, message, entry: path)
            }
            missing.append((directory.bytes.count, hash))
            next = directory.parent
        }
        return missing.reversed()
    }
}

extension EntryPath {
    /// The path in an archive for an extension's `name`: without empty components and `.`.
    ///
    /// A path that is invalid for another reason stays invalid.
    package init(meantBy name: [UInt8]) {
        let slash = UInt8(ascii: "/")
        let path = EntryPath(bytes: name)
        guard path.violation != nil, name.first != slash else {
            self = path
            return
        }
        let components = name.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
        self.init(bytes: [UInt8](components.joined(separator: [slash])))
    }
}
