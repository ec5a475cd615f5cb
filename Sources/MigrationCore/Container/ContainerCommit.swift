internal import Foundation
internal import MigrationSystem

/// Makes a staged container the live one, completely or not at all.
///
/// Where the system can exchange two directories in one step, that exchange is the commit.
/// Otherwise (a mount point, an overlay's lower directory, a parent that can't be written, another
/// user's directory) ``JournaledCommit`` does the same in steps.
struct ContainerCommit {
    let path: BytePath
    let live: OpenFile
    let staging: StagingDirectory
    let record: ImportRecord
    /// The space set aside for the record of a failure, to be freed if the commit needs it.
    var reserve: RecordReserve?
    /// Where the old data is kept; `nil` removes it.
    var kept: KeptContainer?

    /// Commits and removes the old data; returns an error for each part that could not be removed.
    func run() throws -> [MigrationError] {
        let isAlike = try staging.position == .beside && prepareExchange()
        try staging.directory.descriptor.synchronizeFileSystem()
        // After an exchange, the old container is where the staged one was.
        var leftovers = Leftovers(of: path)
        switch isAlike ? try exchange() : .impossible {
        case .done:
            if let kept {
                leftovers.move(to: kept) {
                    try kept.take(live, from: staging.parent, replacedBy: staging.directory)
                }
                // What could not be moved is still there.
                guard leftovers.problems.isEmpty else { break }
            }
            leftovers.remove(staging)
        case .unproved(let error): leftovers.keep(staging, because: error)
        case .impossible:
            let commit = JournaledCommit(
                path: path,
                live: live,
                staging: staging,
                record: record,
                reserve: reserve,
                kept: kept
            )
            return try commit.run()
        }
        return leftovers.problems
    }

    private enum Exchange {
        case done
        case impossible
        /// Done, but neither confirmed nor undone, because of this error.
        case unproved(any Error)
    }

    /// Exchanges the two directories if possible; undoes the exchange if a later step fails.
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
        try parent.exchange(path.lastComponent, with: staging.name, in: staging.parent.descriptor)
    }

    /// Throws unless the locked container was exchanged, and the exchange is on disk.
    private func proveExchange() throws {
        let parent = staging.parent
        let replaced = try parent.descriptor.status(of: staging.name).identity
        guard try replaced == live.descriptor.status().identity else {
            throw MigrationError(.containerBusy, "the container was replaced", path: path)
        }
        try parent.descriptor.synchronize()
        try FileDescriptor.open(path.parent, .directory).synchronize()
    }
}

// MARK: - What stays with the place

extension ContainerCommit {
    /// Gives the staged container everything that stays with the place, and the record of the
    /// import.
    ///
    /// - Returns: Whether the two directories are alike now. If not, the live one has to stay.
    private func prepareExchange() throws -> Bool {
        do {
            let status = try live.descriptor.status()
            try staging.directory.descriptor.adoptOwner(of: status)
            try Self.copyMetadata(of: live, to: staging.directory)
            try writeRecord()
            try Self.adoptAttributes(of: live, in: staging.directory)
            try staging.directory.descriptor.setPermissions(status.permissions)
            return try isAlike(status)
        } catch let error as SystemError {
            // Attributes that fit in one order may not fit in another, and some change meanwhile.
            guard
                error.isDenied || error.isUnsupported || error.isOutOfSpace || error.isTooLarge
                    || error.isWithoutAttribute
            else { throw error }
            return false
        }
    }

    private func writeRecord() throws {
        let bookkeeping = try BookkeepingDirectory.make(in: staging.directory)
        try ImportRecordFile(in: bookkeeping).write(record)
        guard let kept else { return }
        // From the exchange on, this is the journal of the container.
        let journal = ImportJournal(
            phase: .exchanged,
            record: nil,
            staging: record.staging,
            kept: Data(kept.path.bytes)
        )
        try journal.write(to: bookkeeping)
    }

    /// Copies the property list by which Apple's container manager knows the container.
    static func copyMetadata(
        of live: OpenFile,
        to directory: OpenFile
    ) throws(SystemError) {
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
        let copy = OpenFile(try directory.descriptor.open(name, access))
        try copy.descriptor.writeAll(bytes.span)
        try copy.descriptor.adoptOwner(of: status)
        try adoptAttributes(of: source, in: copy)
        try copy.descriptor.setPermissions(status.permissions & 0o777)
        try copy.descriptor.setModificationTime(status.modificationTime)
    }

    private static func adoptAttributes(of source: OpenFile, in copy: OpenFile) throws(SystemError)
    {
        let present = try copy.descriptor.extendedAttributes()
        let missing = try source.descriptor.extendedAttributes().filter { !present.contains($0) }
        try copy.descriptor.setExtendedAttributes(missing)
    }

    /// Checks the result: the system drops set-group-id bits silently, and attributes can be
    /// inherited.
    private func isAlike(_ status: FileStatus) throws(SystemError) -> Bool {
        let staged = try staging.directory.descriptor.status()
        guard staged.owner == status.owner, staged.group == status.group,
            staged.permissions == status.permissions
        else { return false }
        let attributes = try live.descriptor.extendedAttributes()
        return try staging.directory.descriptor.extendedAttributes() == attributes
    }
}
