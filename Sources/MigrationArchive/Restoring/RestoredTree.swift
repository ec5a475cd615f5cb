internal import MigrationSystem

/// The tree that an extraction makes: its directories, and which entries use the names in them.
///
/// Directories are reached one component at a time and never through a link.
final class RestoredTree {
    private let options: ArchiveExtractor.Options
    private let tally: ExtractionTally
    private let cursor: DirectoryCursor<any RestoredDirectory>
    /// The directories that were opened most recently; the entries of a window alternate between them.
    private var recent: [EntryPath: any RestoredDirectory] = [:]
    /// Each of them uses an open file.
    private static let recentLimit = 64
    /// The directories in which files were made most recently; one that was forgotten is looked up again.
    private var known = RecentPaths()
    private static let knownLimit = 1 << 13
    /// How the file system compares names, once that is known.
    private var folding: NameFolding?
    /// The directories that were made for their content, before their own entries.
    private var implied = PathHashes(of: "directories that come after what is in them")
    /// The deepest of them above the path, and its depth.
    private var lastImplied: (path: EntryPath, depth: Int)?
    /// The directories made so far, kept only if another name could lead to one of them.
    private var madeDirectories = PathHashes(of: "directories where names fold")
    /// Marks placeholders for later links; no archive can contain it.
    private let placeholderMark = [UInt8](utf8: "/\(UInt64.random(in: 0...UInt64.max))")

    /// The threads that make files, while there are any.
    var writers: FileWriters?

    /// The root, if the tree is on a disk.
    let rootOnDisk: OpenFile?

    /// Restores beneath `root`.
    init(
        root: any RestoredDirectory,
        options: ArchiveExtractor.Options,
        tally: ExtractionTally
    ) {
        self.options = options
        self.tally = tally
        rootOnDisk = root as? OpenFile
        cursor = DirectoryCursor(restoringIn: root)
    }

    /// Waits until the files of all entries read so far exist.
    func settleFiles() throws { try writers?.settle() }

    /// How many directories were opened so far.
    var openCount: Int { cursor.openCount }

    /// The directory at `path`, which must exist.
    func directory(at path: EntryPath) throws(SystemError) -> any RestoredDirectory {
        guard let root = rootOnDisk,
            path.bytes.count <= FileDescriptor.longestPath
        else { return try cursor.directory(at: path.components) }
        return OpenFile(try root.descriptor.openBeneathWithoutLinks(path.bytes[...], .directory))
    }

    /// The directory that the entry at `path` is in, which must exist.
    func existingParent(of path: EntryPath) throws(SystemError) -> any RestoredDirectory {
        try cursor.directory(at: path.components.dropLast())
    }

    /// The kind of what is at `path`, and the directory that it is in; `nil` if nothing is there.
    func existing(
        at path: EntryPath
    ) throws(SystemError) -> (directory: any RestoredDirectory, kind: FileStatus.Kind)? {
        do throws(SystemError) {
            let directory = try existingParent(of: path)
            return (directory, try directory.status(of: [UInt8](path.lastComponent)).kind)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Finds out where a link at `path` to `target` leads.
    func end(ofLinkAt path: EntryPath, to target: [UInt8]) throws(SystemError) -> LinkWalk.End {
        try LinkWalk.end(ofLinkAt: path, to: target, beneath: cursor)
    }

    /// Gives `name` in `directory` to `owner`, or to the requested owner of everything.
    func setOwner(
        _ owner: FileOwner? = nil,
        of name: [UInt8],
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        guard let owner = owner ?? options.owner, let directory = directory as? OpenFile else {
            return
        }
        try directory.descriptor.setOwner(owner, of: name)
    }
}

// MARK: - Directories

extension RestoredTree {
    /// The directory that the entry at `path` belongs in, which is made if it is missing.
    func parent(of path: EntryPath) throws -> any RestoredDirectory {
        let parent = EntryPath(bytes: [UInt8](path.bytes.dropLast(path.lastComponent.count)))
        if let directory = recent[parent] { return directory }
        let directory = try findDirectory(path.components.dropLast(), above: path)
        if recent.count == Self.recentLimit { recent.removeAll(keepingCapacity: true) }
        recent[parent] = directory
        return directory
    }

    /// Where to make the file at `path`; a missing directory is made.
    ///
    /// On a disk, that is the whole path in the root, so known directories aren't opened again.
    func place(ofFileAt path: EntryPath) throws -> RestoredPlace {
        guard writers != nil, path.bytes.count <= FileDescriptor.longestPath,
            try observedFolding() == .absent
        else {
            let directory = try parent(of: path)
            return RestoredPlace(directory: directory, path: path, name: path.lastComponent)
        }
        if let end = path.bytes.lastIndex(of: UInt8(ascii: "/")) {
            if known.count == Self.knownLimit { known.removeAll() }
            if known.insert(EntryPath.hash(of: path.bytes[..<end])) { try makeParent(of: path) }
        }
        return RestoredPlace(directory: cursor.rootDirectory, path: path, name: path.bytes[...])
    }

    /// Makes the directory that the entry at `path` belongs in, unless it exists, without opening
    /// it.
    private func makeParent(of path: EntryPath) throws {
        let components = path.components.dropLast()
        let directory = try findDirectory(components.dropLast(), above: path)
        do {
            let parents = ImpliedDirectories(above: path, components, options)
            try makeImplied(components.count - 1, of: parents, in: directory)
        } catch let error as SystemError where error.isExisting {
            return
        }
    }

    /// Finds the directory at `components`, and makes it if it is missing.
    private func findDirectory(
        _ components: ArraySlice<ArraySlice<UInt8>>,
        above path: EntryPath
    ) throws -> any RestoredDirectory {
        do {
            return try openMade(components, above: path)
        } catch let error as SystemError where error.isMissing {
            return try makeParents(ImpliedDirectories(above: path, components, options))
        }
    }

    /// Opens the directory at `components`; it and those above it must have been made under these
    /// names.
    private func openMade(
        _ components: ArraySlice<ArraySlice<UInt8>>,
        above path: EntryPath
    ) throws -> any RestoredDirectory {
        let depth = cursor.reachedDepth(of: components)
        cursor.truncate(to: depth)
        guard depth < components.count else { return try cursor.deepest() }
        let hashes = try observedFolding() == .absent ? nil : path.levelHashes
        for (index, name) in components.enumerated().dropFirst(depth) {
            try cursor.descend(to: [UInt8](name))
            if let hashes, !madeDirectories.contains(hashes[index]) { throw Self.foldedName }
        }
        return try cursor.deepest()
    }

    /// Remembers the directory that was made at `path`, if another name could lead to it.
    func remember(_ path: EntryPath) throws {
        guard try observedFolding() != .absent else { return }
        try madeDirectories.insert(path)
    }

    /// Records that a directory's entry was read; returns whether the directory was already made
    /// for its content.
    func takeImplied(_ path: EntryPath) -> Bool { implied.remove(path) }

    /// Throws if the entry of a directory is missing, unless it may have been damaged.
    func checkDirectories() throws(ArchiveError) {
        guard !implied.isEmpty, !options.passesOverDamage else { return }
        let path = lastImplied.map { path, depth in
            let hashes = path.levelHashes.prefix(depth)
            return path.ancestor(atDepth: (hashes.lastIndex(where: implied.contains) ?? 0) + 1)
        }
        let message = "the directory holds entries and has none itself"
        throw ArchiveError(.refused, message, entry: path)
    }

    /// Makes the missing ones of `parents` below the last directory that the cursor reached.
    ///
    /// It descends once: an archive can name thousands of directories in a few bytes.
    private func makeParents(_ parents: ImpliedDirectories) throws -> any RestoredDirectory {
        var directory = try cursor.deepest()
        for index in cursor.depth..<parents.components.count {
            try makeImplied(index, of: parents, in: directory)
            directory = try cursor.descend(to: parents.name(index))
        }
        return directory
    }

    /// Makes one of `parents` in `directory`.
    private func makeImplied(
        _ index: Int,
        of parents: ImpliedDirectories,
        in directory: any RestoredDirectory
    ) throws {
        let (path, name) = (parents.path, parents.name(index))
        if writers?.mayStillMake(path.bytes[..<parents.components[index].endIndex]) == true {
            try settleFiles()
            do throws(SystemError) {
                // If it is a file, the error is the same whether or not it was already made.
                try cursor.descend(to: name)
            } catch {
                guard error.isMissing else { throw error }
            }
        }
        let isIncluded = index >= parents.firstIncluded
        let awaitsEntry = !options.isLenient && isIncluded
        try directory.makeDirectory(name, permissions: awaitsEntry ? 0o700 : 0o755)
        try setOwner(of: name, in: directory)
        if isIncluded { tally.countImpliedDirectory() }
        if awaitsEntry {
            try implied.insert(parents.hashes[index], at: path)
            lastImplied = (path, depth: index + 1)
        }
        if try observedFolding() != .absent {
            try madeDirectories.insert(parents.hashes[index], at: path)
        }
    }

    /// Makes the directory at `path`, unless its parent is missing or something has its name.
    func recreateDirectory(at path: EntryPath) throws {
        do throws(SystemError) {
            let (directory, name) = (try existingParent(of: path), [UInt8](path.lastComponent))
            try directory.makeDirectory(name, permissions: 0o755)
            try setOwner(of: name, in: directory)
        } catch {
            guard error.isMissing || error.isExisting || error.isNotDirectory else {
                throw ArchiveError(error, restoring: path)
            }
        }
    }

    /// Removes the file at `path`, and the directories above it that are then empty.
    func removeFileAndEmptyParents(at path: EntryPath) throws(SystemError) {
        if let (directory, kind) = try existing(at: path) {
            let name = [UInt8](path.lastComponent)
            do throws(SystemError) {
                // A directory may have replaced it.
                if kind == .directory {
                    try directory.removeDirectory(name)
                } else {
                    try directory.removeFile(name)
                }
            } catch {
                if error.isNotEmpty { return }
                throw error
            }
        }
        while let name = cursor.deepestName {
            cursor.truncate(to: cursor.depth - 1)
            do throws(SystemError) {
                try cursor.deepest().removeDirectory(name)
            } catch {
                if error.isNotEmpty { return }
                guard error.isMissing else { throw error }
            }
        }
    }
}

// MARK: - Names

extension RestoredTree {
    private static let foldedName = ArchiveError(
        .entryExists,
        "the file system takes the name for that of another entry"
    )

    private func observedFolding() throws(SystemError) -> NameFolding {
        if let folding { return folding }
        guard let root = rootOnDisk else { return .absent }
        let observed = try NameFolding.observed(in: root)
        folding = observed
        return observed
    }

    /// Throws unless the entry with `name` was created with exactly this name.
    ///
    /// A file system that ignores case, for example, finds another entry by this name.
    func checkSpelling(of name: [UInt8], in directory: any RestoredDirectory) throws {
        switch try observedFolding() {
        case .absent: return
        case .keepingSpelling:
            guard let directory = directory as? OpenFile else { return }
            if try DirectoryListing(of: directory.descriptor).contains(name) { return }
        case .changingSpelling: break
        }
        throw Self.foldedName
    }

    /// Occupies the reserved names, so that no entry gets one under a name that is equivalent here.
    func takeReservedNames() throws(SystemError) {
        for path in options.reserved {
            try cursor.rootDirectory.makeDirectory(path.bytes, permissions: 0o700)
        }
    }

    /// Frees the reserved names again.
    func freeReservedNames() throws(SystemError) {
        for path in options.reserved {
            try cursor.rootDirectory.removeDirectory(path.bytes)
        }
    }
}

// MARK: - Later entries that replace earlier ones

/// In other programs' tar files a path may occur more than once, and the last entry counts.
extension RestoredTree {
    /// Calls `body`, which makes the entry at `path`; in a lenient archive an earlier file or link of
    /// that name is removed first.
    func replacing(
        _ path: EntryPath,
        in directory: any RestoredDirectory,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SystemError where error.isExisting && options.isLenient {
            let name = [UInt8](path.lastComponent)
            guard try directory.status(of: name).kind != .directory else { throw error }
            try checkSpelling(of: name, in: directory)
            try removeReplaced(by: path, in: directory)
            try body()
        }
    }

    /// Removes the file or link that the entry at `path` replaces.
    func removeReplaced(
        by path: EntryPath,
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        let name = [UInt8](path.lastComponent)
        let status = try directory.status(of: name)
        let isPlaceholder = try isPlaceholder(name, status: status, in: directory)
        try directory.removeFile(name)
        tally.discount(status, replacedBy: path, isPlaceholder: isPlaceholder)
    }

    private func isPlaceholder(
        _ name: [UInt8],
        status: FileStatus,
        in directory: any RestoredDirectory
    ) throws(SystemError) -> Bool {
        guard status.kind == .symbolicLink else { return false }
        return try directory.symbolicLinkTarget(name) == name + placeholderMark
    }

    /// Puts a placeholder where a link will be made later, so that other entries collide with it in
    /// the archive's order.
    ///
    /// The placeholder is a link to a path below itself, which leads nowhere. No real link exists
    /// yet.
    func makePlaceholder(at path: EntryPath, in directory: any RestoredDirectory) throws {
        let name = [UInt8](path.lastComponent)
        try replacing(path, in: directory) {
            let target = name + placeholderMark
            try directory.makeSymbolicLink(name, to: target, modificationTime: nil)
        }
    }

    /// Removes the placeholder at `path`; returns `false` if a later entry has replaced it.
    func removePlaceholder(
        at path: EntryPath,
        in directory: any RestoredDirectory
    ) throws(SystemError) -> Bool {
        guard options.isLenient else { return true }
        guard try existing(at: path)?.kind == .symbolicLink else { return false }
        try removeReplaced(by: path, in: directory)
        return true
    }
}

// MARK: - Directories above a path

/// The directories above a path, which are made for their content.
private struct ImpliedDirectories {
    let path: EntryPath
    let components: ArraySlice<ArraySlice<UInt8>>
    let hashes: [Int]
    /// The first of them that is selected, directly or through one above it.
    let firstIncluded: Int

    init(
        above path: EntryPath,
        _ components: ArraySlice<ArraySlice<UInt8>>,
        _ options: ArchiveExtractor.Options
    ) {
        self.path = path
        self.components = components
        hashes = path.levelHashes
        firstIncluded = options.depthOfFirstIncluded(above: path, components.count)
    }

    func name(_ index: Int) -> [UInt8] { [UInt8](components[index]) }
}
