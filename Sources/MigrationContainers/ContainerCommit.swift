internal import Foundation
package import MigrationContract
internal import MigrationSystem

/// Makes a staged container the live one, completely or not at all.
///
/// If the system can exchange two directories in one step, that exchange is the commit. In a
/// bundle, the bundles are exchanged. Otherwise (a mount point, an overlay's lower directory, a
/// parent that can't be written, another user's directory, a bundle with other files in it)
/// ``JournaledCommit`` does the same in steps.
package struct ContainerCommit {
    let live: ContainerLock
    let staging: StagingDirectory
    let record: ImportRecord
    /// The space reserved for the record of a failure, to be freed if the commit needs it.
    var reserve: RecordReserve?
    /// Where the old data is kept; `nil` removes it.
    var kept: KeptContainer?

    package init(
        live: ContainerLock,
        staging: StagingDirectory,
        record: ImportRecord,
        reserve: RecordReserve? = nil,
        kept: KeptContainer? = nil
    ) {
        (self.live, self.staging, self.record, self.reserve) = (live, staging, record, reserve)
        self.kept = kept
    }

    private var path: BytePath { live.path }

    /// Commits and removes the old data; returns an error for each part that could not be removed.
    package func run() throws -> [MigrationError] {
        let isAlike = try staging.position == .beside && prepareExchange()
        try staging.placed.descriptor.synchronizeFileSystem()
        // After an exchange, the old container is where the staged one was.
        var leftovers = Leftovers(of: path)
        switch isAlike ? try exchange() : .impossible {
        case .done:
            if let kept {
                leftovers.move(to: kept) {
                    try kept.take(
                        live.directory,
                        from: staging.parent,
                        replacedBy: staging.placed
                    )
                }
                // The data that could not be moved is still there.
                guard leftovers.problems.isEmpty else { break }
            }
            leftovers.remove(staging)
        case .unproved(let error): leftovers.keep(staging, because: error)
        case .impossible: return try runInSteps()
        }
        return leftovers.problems
    }

    private enum Exchange {
        case done
        case impossible
        /// The exchange is done, but because of this error neither confirmed nor undone.
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
        guard try replaced == live.directory.descriptor.status().identity else {
            throw MigrationError(.containerBusy, "the container was replaced", path: path)
        }
        try parent.descriptor.synchronize()
        try FileDescriptor.open(path.parent, .directory).synchronize()
    }
}

// MARK: - The properties of the directory

extension ContainerCommit {
    /// Copies the properties of the live directory to the staged container, and writes the record
    /// of the import.
    ///
    /// - Returns: Whether the two directories are alike now. If not, the live one must not be
    ///   exchanged.
    private func prepareExchange() throws -> Bool {
        do {
            let metadata = ContainerLayout.metadataName
            guard live.place.isBundle else {
                return try Self.makeAlike(staging.placed, live.directory, sharing: metadata) {
                    try writeRecord()
                }
            }
            guard try holdsNothingElse(),
                try Self.makeAlike(staging.directory, live.root, sharing: metadata)
            else { return false }
            let info = ContainerLayout.infoName
            return try Self.makeAlike(staging.placed, live.directory, sharing: info) {
                try writeRecord()
            }
        } catch let error as SystemError {
            // Attributes that fit in one order may not fit in another, and some change meanwhile.
            guard
                error.isDenied || error.isUnsupported || error.isOutOfSpace || error.isTooLarge
                    || error.isWithoutAttribute
            else { throw error }
            return false
        }
    }

    /// Whether the bundle holds only what an import knows, so that an exchange loses nothing.
    private func holdsNothingElse() throws(SystemError) -> Bool {
        let known = [
            ContainerLayout.dataName, ContainerLayout.infoName, ContainerLayout.bookkeepingName,
        ]
        guard try DirectoryListing(of: live.directory.descriptor).allSatisfy(known.contains) else {
            return false
        }
        let info = try live.directory.descriptor.statusIfPresent(of: ContainerLayout.infoName)
        return info == nil || info?.kind == .regular
    }

    /// Copies everything but the data of the live directory to the staged one, and calls `body` to
    /// write the rest; returns whether the two are alike now.
    private static func makeAlike(
        _ staged: OpenFile,
        _ live: OpenFile,
        sharing name: [UInt8],
        _ body: () throws -> Void = {}
    ) throws -> Bool {
        let status = try live.descriptor.status()
        try staged.descriptor.adoptOwner(of: status)
        try copy(name, of: live, to: staged)
        try body()
        try adoptAttributes(of: live, in: staged)
        try staged.descriptor.setPermissions(status.permissions)
        return try isAlike(staged, live, status)
    }

    private func writeRecord() throws {
        let bookkeeping = try BookkeepingDirectory.make(in: staging.placed)
        try ImportRecordFile(in: bookkeeping).write(record)
        guard let kept else { return }
        // From the exchange on, this is the journal of the container.
        let journal = ImportJournal(
            phase: .exchanged,
            record: nil,
            staging: record.staging,
            kept: Data(kept.path.bytes),
            container: try staging.placed.descriptor.status().identity.inode
        )
        try journal.write(to: bookkeeping)
    }

    /// Copies the property list `name`, by which Apple's programs recognize the container or the
    /// bundle.
    static func copy(
        _ name: [UInt8],
        of live: OpenFile,
        to directory: OpenFile
    ) throws(SystemError) {
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
    private static func isAlike(
        _ staged: OpenFile,
        _ live: OpenFile,
        _ status: FileStatus
    ) throws(SystemError) -> Bool {
        let result = try staged.descriptor.status()
        guard result.owner == status.owner, result.group == status.group,
            result.permissions == status.permissions
        else { return false }
        let attributes = try live.descriptor.extendedAttributes()
        return try staged.descriptor.extendedAttributes() == attributes
    }
}
