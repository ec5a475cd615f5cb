internal import MigrationSystem

/// Makes a staged container the live one, all of it or nothing.
///
/// Where the system can exchange two directories in one step, that is the commit. Elsewhere (a mount
/// point, an overlay's lower directory, a parent that can't be written, a directory of somebody else)
/// ``JournaledCommit`` does it.
struct ContainerCommit {
    let path: PathName
    let live: OpenFile
    let staging: StagingDirectory
    let record: ImportRecord

    /// Commits, and removes what was in the container before; returns why some of it is still there.
    func run() throws -> [MigrationError] {
        try prepare()
        let isAlike = staging.place == .beside ? try adoptDirectory() : false
        try staging.directory.descriptor.synchronizeFileSystem()
        guard isAlike, try exchange() else {
            let commit = JournaledCommit(path: path, live: live, staging: staging, record: record)
            return try commit.run()
        }
        // The old container is where the staged one was.
        var leftovers = Leftovers(of: path)
        leftovers.remove(staging)
        return leftovers.problems
    }

    /// Completes the staged container: what stays with the place rather than with the data, and the record.
    private func prepare() throws {
        try copyMetadata()
        let bookkeeping = try BookkeepingDirectory.make(in: staging.directory)
        let data = try BookkeepingCoding.encode(record)
        try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
    }

    /// Copies the property list by which Apple's container manager knows the container.
    private func copyMetadata() throws(SystemError) {
        let name = ContainerLayout.metadataName
        let source: OpenFile
        do {
            source = OpenFile(try live.descriptor.open(name, .reading))
        } catch {
            guard error.isMissing || error.isNotDirectory else { throw error }
            return
        }
        guard let bytes = try source.descriptor.readAll(limit: 1 << 20) else { return }
        let status = try source.descriptor.status()
        let access = FileDescriptor.Access.creating(permissions: 0o600)
        let copy = OpenFile(try staging.directory.descriptor.open(name, access))
        try copy.descriptor.writeAll(bytes.span)
        try copy.descriptor.setPermissions(status.permissions & 0o777)
        try copy.descriptor.setModificationTime(status.modificationTime)
    }

    /// Exchanges the two directories; returns `false` where that is impossible here.
    private func exchange() throws -> Bool {
        let parent = staging.parent
        do throws(SystemError) {
            try parent.descriptor.exchange(path.name, with: staging.name)
        } catch {
            guard error.isExchangeImpossible else { throw error }
            return false
        }
        guard
            try parent.descriptor.status(of: staging.name).identity
                == live.descriptor.status().identity
        else {
            // Somebody put another container in the place of the locked one: give it back.
            try parent.descriptor.exchange(path.name, with: staging.name)
            throw MigrationError(.containerBusy, "the container was replaced", path: path.path)
        }
        do throws(SystemError) {
            try parent.descriptor.synchronize()
        } catch {
            try parent.descriptor.exchange(path.name, with: staging.name)
            throw error
        }
        return true
    }
}
