internal import MigrationSystem

/// How the directory of an entry is reached, and how its name is made free.
extension ArchiveExtractor {
    /// The open directory in which the entry at `path` belongs.
    func parent(of path: EntryPath) throws -> OpenFile {
        let parentPath = path.bytes.dropLast(path.lastComponent.count)
        if let lastParent, lastParent.path.span.isEqual(to: parentPath.span) {
            return lastParent.directory
        }
        let directory = try findParent(of: path)
        lastParent = (parentPath, directory)
        return directory
    }

    private func findParent(of path: EntryPath) throws -> OpenFile {
        let components = path.components.dropLast()
        do {
            return try cursor.directory(at: components)
        } catch {
            guard error.isMissing else { throw error }
            // Part of a selection or another program's archive: its parents need not be entries.
            guard options.isLenient || !options.selection.isEmpty else {
                throw try refusal(ofOrphan: path)
            }
            return try makeParents(components.dropFirst(cursor.depth))
        }
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
        _ missing: ArraySlice<ArraySlice<UInt8>>
    ) throws(SystemError) -> OpenFile {
        var directory = try cursor.deepest()
        for name in missing.map({ ByteString($0) }) {
            try directory.descriptor.makeDirectory(name, permissions: 0o755)
            directory = try cursor.descend(to: name)
        }
        return directory
    }

    /// Calls `body`; where the name is taken in a lenient archive, what has it makes room first.
    func replacing(
        _ name: ByteString,
        in directory: OpenFile,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SystemError where error.isExisting && options.isLenient {
            guard try directory.descriptor.status(of: name).kind != .directory else { throw error }
            try checkSpelling(of: name, in: directory)
            try directory.descriptor.removeFile(name)
            try body()
        }
    }

    /// Throws where what has the name is another entry whose name the file system takes for the same,
    /// or nobody can tell.
    func checkSpelling(of name: ByteString, in directory: OpenFile) throws {
        switch try observedFolding() {
        case .absent: return
        case .keepingSpelling:
            if try DirectoryListing(of: directory.descriptor).contains(name) { return }
        case .changingSpelling: break
        }
        let message = "the file system takes the name for that of another entry"
        throw ArchiveError(.entryExists, message)
    }

    private func observedFolding() throws(SystemError) -> NameFolding {
        if let folding { return folding }
        let observed = try NameFolding.observed(in: cursor.rootDirectory)
        folding = observed
        return observed
    }
}
