internal import MigrationSystem

/// The modes, times and access control lists of directories, set after everything in them is made.
///
/// An entry made in a directory changes its time, and the mode may forbid making one.
final class DeferredDirectories {
    /// The limit for the memory of directories that can't be entered once they have their modes.
    private static let closedBytesLimit = 24 << 20
    /// The memory that each of them takes in addition to its record.
    private static let closedHeadSize = 192

    private let options: ArchiveExtractor.Options
    private let tree: RestoredTree
    private let spool: RecordSpool
    private var redeclared = PathHashes(of: "directories that come twice")
    private var finished = PathHashes(of: "directories that come twice")

    init(of tree: RestoredTree, options: ArchiveExtractor.Options) {
        self.tree = tree
        self.options = options
        spool = RecordSpool(in: tree.rootOnDisk)
    }

    /// Adds the directory of `entry`, which gets `permissions`.
    func add(_ entry: ArchiveEntry, permissions: UInt16) throws(SystemError) {
        let directory = entry.changing {
            ($0.permissions, $0.owner) = (permissions, nil)
            $0.extendedAttributes = entry.extendedAttributes.accessLists
        }
        try spool.append(directory.record)
    }

    /// Records that the directory at `path` occurs again, so that its last entry counts.
    func redeclare(_ path: EntryPath) throws(ArchiveError) {
        try redeclared.insert(path)
    }

    /// Gives all directories their modes and times.
    ///
    /// Those that can't be entered afterwards come last, each after those in it.
    func finish() throws {
        var closed: [ArchiveEntry] = []
        var closedBytes = 0
        try spool.forEachReversed { record in
            let directory = ArchiveEntry(record: record[...])
            if redeclared.contains(directory.path) {
                guard try finished.insert(directory.path) else { return }
            }
            if directory.permissions & 0o500 == 0o500 { return try finish(directory) }
            closed.append(directory)
            closedBytes += record.count + Self.closedHeadSize
            guard closedBytes <= Self.closedBytesLimit else {
                let message = "the archive holds too many directories that nobody may enter"
                throw ArchiveError(.refused, message, entry: directory.path)
            }
        }
        closed.sort { $0.path.isLeft(before: $1.path) }
        for directory in closed { try finish(directory) }
    }

    private func finish(_ entry: ArchiveEntry) throws(ArchiveError) {
        do throws(SystemError) {
            guard let directory = try tree.directory(at: entry.path) as? OpenFile else { return }
            try directory.descriptor.setPermissions(entry.permissions)
            try directory.descriptor.setExtendedAttributes(entry.extendedAttributes)
            try directory.descriptor.setModificationTime(entry.modificationTime)
        } catch {
            if error.isMissing, options.linkTargets.contains(entry.path) { return }
            throw ArchiveError(error, restoring: entry.path)
        }
    }

    /// Forgets all directories.
    func close() { spool.close() }
}
