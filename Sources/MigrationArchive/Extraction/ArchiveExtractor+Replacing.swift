internal import MigrationSystem

/// How a later entry takes the place of an earlier one, as in other programs' tar files.
extension ArchiveExtractor {
    /// Calls `body`; where the name of `path` is taken in a lenient archive, what has it makes room first.
    func replacing(
        _ path: EntryPath,
        in directory: any RestoredDirectory,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SystemError where error.isExisting && options.isLenient {
            let name = ByteString(path.lastComponent)
            guard try directory.status(of: name).kind != .directory else { throw error }
            try checkSpelling(of: name, in: directory)
            try removeReplaced(by: path, in: directory)
            try body()
        }
    }

    /// Removes what has the name of the entry at `path`, which replaces it.
    func removeReplaced(
        by path: EntryPath,
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        let name = ByteString(path.lastComponent)
        let status = try directory.status(of: name)
        let isReserved = try isReservation(name, status, in: directory)
        try directory.removeFile(name)
        // Nothing bounds how often a path comes, and another file may get the identity.
        let wasCounted = countedFiles.remove(status.identity) != nil
        if !isReserved { discount(status, replacedBy: path, wasCounted: wasCounted) }
    }

    /// Whether `name` is of a link that stands for one which is not made yet, and is not counted.
    private func isReservation(
        _ name: ByteString,
        _ status: FileStatus,
        in directory: any RestoredDirectory
    ) throws(SystemError) -> Bool {
        guard status.kind == .symbolicLink else { return false }
        return try directory.symbolicLinkTarget(name) == name + reservation
    }

    /// Takes the place of a link that is made later, so that other entries meet it in their order.
    ///
    /// What stands for it is a link to beneath itself, which leads nowhere. No other link is there yet.
    func reserve(_ path: EntryPath, in directory: any RestoredDirectory) throws {
        let name = ByteString(path.lastComponent)
        try replacing(path, in: directory) {
            try directory.makeSymbolicLink(name, to: name + reservation, modificationTime: nil)
        }
    }

    /// Makes room for a link in the place that was reserved for it; returns `false` where a later
    /// entry has that.
    func takeReserved(
        _ path: EntryPath,
        in directory: any RestoredDirectory
    ) throws(SystemError) -> Bool {
        guard options.isLenient else { return true }
        guard try isLink(ByteString(path.lastComponent), in: directory) else { return false }
        try removeReplaced(by: path, in: directory)
        return true
    }

    /// Whether a later entry, or none, is where `link` was made.
    func isGone(_ link: DeferredLink, at path: EntryPath) throws(SystemError) -> Bool {
        do {
            let directory = try cursor.directory(at: path.components.dropLast())
            let name = ByteString(path.lastComponent)
            guard try isLink(name, in: directory) else { return true }
            guard link.kind == .symbolic else { return false }
            return try directory.symbolicLinkTarget(name) != link.target
        } catch {
            guard error.isMissing else { throw error }
            return true
        }
    }

    private func isLink(
        _ name: ByteString,
        in directory: any RestoredDirectory
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try directory.status(of: name).kind == .symbolicLink
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }
}
