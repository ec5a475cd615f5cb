internal import MigrationSystem

/// How the directory of an entry is reached, and whose its name is.
extension ArchiveExtractor {
    /// The open directory in which the entry at `path` belongs.
    func parent(of path: EntryPath) throws -> any RestoredDirectory {
        let parentPath = path.bytes.dropLast(path.lastComponent.count)
        if let lastParent, lastParent.path.span.isEqual(to: parentPath.span) {
            return lastParent.directory
        }
        let directory = try findParent(of: path)
        lastParent = (parentPath, directory)
        return directory
    }

    private func findParent(of path: EntryPath) throws -> any RestoredDirectory {
        let components = path.components.dropLast()
        do {
            return try mayLackParents ? openMade(components) : cursor.directory(at: components)
        } catch let error as SystemError where error.isMissing {
            guard mayLackParents else { throw try refusal(ofOrphan: path) }
            return try makeParents(components)
        }
    }

    /// Whether entries may come without their directories, as in a selection and in another program's
    /// archive.
    private var mayLackParents: Bool { options.isLenient || !options.selection.isEmpty }

    /// Opens the directory at `components`, which must have been made by this name, and those above it.
    private func openMade(
        _ components: ArraySlice<ArraySlice<UInt8>>
    ) throws -> any RestoredDirectory {
        let depth = cursor.reachedDepth(of: components)
        cursor.truncate(to: depth)
        for (index, name) in components.enumerated().dropFirst(depth) {
            try cursor.descend(to: ByteString(name))
            guard
                try observedFolding() == .absent
                    || madeDirectories.contains(EntryPath(joining: components.prefix(index + 1)))
            else { throw Self.foldedName }
        }
        return try cursor.deepest()
    }

    /// Remembers the directory that was made at `path`, where another name could lead to it.
    func remember(_ path: EntryPath) throws {
        guard mayLackParents, try observedFolding() != .absent else { return }
        try madeDirectories.insert(path)
    }

    /// Says why an entry without a directory is refused.
    private func refusal(ofOrphan path: EntryPath) throws -> any Error {
        // A file that was yet to be made may stand in the directory's place.
        try settleFiles()
        do throws(SystemError) {
            _ = try cursor.directory(at: path.components.dropLast())
        } catch {
            guard error.isMissing else { return error }
        }
        return ArchiveError(.refused, "the entry comes before its directory", entry: path)
    }

    /// Makes the directories that are missing below the last one that the cursor reached.
    private func makeParents(
        _ components: ArraySlice<ArraySlice<UInt8>>
    ) throws -> any RestoredDirectory {
        var directory = try cursor.deepest()
        for (index, name) in components.enumerated().dropFirst(cursor.depth) {
            try directory.makeDirectory(ByteString(name), permissions: 0o755)
            try give(ByteString(name), in: directory)
            if isCounted(depth: index + 1, of: components) { totals.directories += 1 }
            try remember(EntryPath(joining: components.prefix(index + 1)))
            directory = try cursor.descend(to: ByteString(name))
        }
        return directory
    }

    /// Whether the directory that is made for the first `depth` components counts as restored.
    private func isCounted(depth: Int, of components: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        if options.selection.isEmpty { return true }
        let path = EntryPath(joining: components.prefix(depth))
        return options.selection.contains(where: path.isEqual(toOrBelow:))
    }

    /// Throws where what has the name is another entry whose name the file system takes for the same,
    /// or nobody can tell.
    func checkSpelling(of name: ByteString, in directory: any RestoredDirectory) throws {
        switch try observedFolding() {
        case .absent: return
        case .keepingSpelling:
            guard let directory = directory as? OpenFile else { return }
            if try DirectoryListing(of: directory.descriptor).contains(name) { return }
        case .changingSpelling: break
        }
        throw Self.foldedName
    }

    private static let foldedName = ArchiveError(
        .entryExists,
        "the file system takes the name for that of another entry"
    )

    private func observedFolding() throws(SystemError) -> NameFolding {
        if let folding { return folding }
        guard let root = cursor.rootDirectory as? OpenFile else { return .absent }
        let observed = try NameFolding.observed(in: root)
        folding = observed
        return observed
    }

    /// Takes the names that belong to the place, so that none is had by a name that is the same there.
    func takeLeftOutNames() throws(SystemError) {
        for path in options.leftOut {
            try cursor.rootDirectory.makeDirectory(path.bytes, permissions: 0o700)
        }
    }

    /// Gives the names back that were taken.
    func freeLeftOutNames() throws(SystemError) {
        for path in options.leftOut {
            try cursor.rootDirectory.removeDirectory(path.bytes)
        }
    }
}
