internal import MigrationSystem

/// How a later entry takes the place of an earlier one, as in other programs' tar files.
extension ArchiveExtractor {
    /// Calls `body`; where the name is taken in a lenient archive, what has it makes room first.
    func replacing(
        _ name: ByteString,
        in directory: OpenFile,
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as SystemError where error.isExisting && options.isLenient {
            let status = try directory.descriptor.status(of: name)
            guard status.kind != .directory else { throw error }
            try checkSpelling(of: name, in: directory)
            try directory.descriptor.removeFile(name)
            // Nothing bounds how often a path comes, and another file may get the identity.
            countedFiles.remove(status.identity)
            try body()
        }
    }

    /// Takes the place of a link that is made later, so that other entries meet it in their order.
    ///
    /// What stands for it is a link to itself, which leads nowhere. No other link is there yet.
    func reserve(_ name: ByteString, in directory: OpenFile) throws {
        try replacing(name, in: directory) {
            try directory.descriptor.makeSymbolicLink(name, to: name)
        }
    }

    /// Makes room for a link in the place that was reserved for it; returns `false` where a later
    /// entry has that.
    func takeReserved(_ name: ByteString, in directory: OpenFile) throws(SystemError) -> Bool {
        guard options.isLenient else { return true }
        guard try isLink(name, in: directory) else { return false }
        try directory.descriptor.removeFile(name)
        return true
    }

    /// Whether a later entry, or none, is where `link` was made.
    func isGone(_ link: DeferredLink, at path: EntryPath) throws(SystemError) -> Bool {
        do {
            let directory = try cursor.directory(at: path.components.dropLast())
            let name = ByteString(path.lastComponent)
            guard try isLink(name, in: directory) else { return true }
            guard link.kind == .symbolic else { return false }
            return try directory.descriptor.symbolicLinkTarget(name) != link.target
        } catch {
            guard error.isMissing else { throw error }
            return true
        }
    }

    private func isLink(_ name: ByteString, in directory: OpenFile) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try directory.descriptor.status(of: name).kind == .symbolicLink
        } catch {
            guard error.isMissing else { throw error }
            return false
        }
    }
}
