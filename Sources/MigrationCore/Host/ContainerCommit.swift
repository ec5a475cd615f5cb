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
    /// The room that is kept for the record of a failure, to be given away where it is needed.
    var reserve: RecordReserve?

    /// Commits, and removes what was in the container before; returns why some of it is still there.
    func run() throws -> [MigrationError] {
        let isAlike = try staging.place == .beside && prepareExchange()
        try staging.directory.descriptor.synchronizeFileSystem()
        // The old container is where the staged one was, after an exchange.
        var leftovers = Leftovers(of: path)
        switch isAlike ? try exchange() : .impossible {
        case .done: leftovers.remove(staging)
        case .unproved(let error): leftovers.keep(staging, because: error)
        case .impossible:
            let commit = JournaledCommit(
                path: path,
                live: live,
                staging: staging,
                record: record,
                reserve: reserve
            )
            return try commit.run()
        }
        return leftovers.problems
    }

    private enum Exchange {
        case done
        case impossible
        /// Done, and neither proved nor undone, for this reason.
        case unproved(any Error)
    }

    /// Exchanges the two directories where that is possible here; what then fails, undoes it.
    private func exchange() throws -> Exchange {
        do throws(SystemError) {
            try exchangeNames()
        } catch {
            guard error.isExchangeImpossible else { throw error }
            return .impossible
        }
        do {
            try proveExchange()
            return .done
        } catch {
            do throws(SystemError) {
                try exchangeNames()
            } catch _ {
                return .unproved(error)
            }
            throw error
        }
    }

    private func exchangeNames() throws(SystemError) {
        let parent = try FileDescriptor.open(path.parent, .directory)
        try parent.exchange(path.name, with: staging.name, in: staging.parent.descriptor)
    }

    /// Throws unless the locked container was exchanged, and that lasts.
    private func proveExchange() throws {
        let parent = staging.parent
        let replaced = try parent.descriptor.status(of: staging.name).identity
        guard try replaced == live.descriptor.status().identity else {
            throw MigrationError(.containerBusy, "the container was replaced", path: path.path)
        }
        try parent.descriptor.synchronize()
        try FileDescriptor.open(path.parent, .directory).synchronize()
    }
}
