package import Foundation
package import MigrationContract
package import MigrationSystem

/// Makes a staged container the live one by moving its contents, in steps that can be resumed.
///
/// In a bundle, everything beside `AppData` stays. The journal in the live container's bookkeeping names the current step: first the old data is moved aside,
/// then the new data is moved in. The next command that finds a journal continues from there, so a
/// crash only delays the new container.
struct JournaledCommit {
    let live: ContainerLock
    let staging: StagingDirectory
    let record: ImportRecord
    /// The space reserved for the record of a failure, to be freed if the commit needs it.
    var reserve: RecordReserve?
    /// Where the old data is kept; `nil` removes it.
    var kept: KeptContainer?

    /// Commits from the beginning; returns an error for each leftover that could not be removed.
    func run() throws -> [MigrationError] {
        let bookkeeping = try BookkeepingDirectory.make(in: live.directory)
        let replaced = try Self.makeReplaced(in: bookkeeping, of: live.place, resuming: false)
        try moveData(asideTo: replaced, bookkeeping)
        var leftovers = Leftovers(of: live.path)
        if let kept {
            leftovers.move(to: kept) {
                try Self.advance(to: .replaced, state, in: live, bookkeeping: bookkeeping)
                try kept.takeReplaced(of: live, bookkeeping)
            }
        } else {
            leftovers.removeJournal(from: bookkeeping)
        }
        // If the journal remains, resuming the commit needs the staged data.
        guard leftovers.problems.isEmpty else { return leftovers.problems }
        leftovers.remove(staging)
        leftovers.remove(in: bookkeeping)
        leftovers.removeBeside(of: StagingToken.all(in: bookkeeping))
        return leftovers.problems
    }

    /// Moves the old data out and the new data in and records that, or restores everything.
    func moveData(asideTo replaced: OpenFile, _ bookkeeping: BookkeepingDirectory) throws {
        do {
            try Self.advance(to: .clearing, state, in: live, bookkeeping: bookkeeping)
            try Self.clear(live, into: replaced, bookkeeping: bookkeeping)
            try Self.advance(to: .filling, state, in: live, bookkeeping: bookkeeping)
            try Self.fill(live, from: staging.directory, resuming: false)
            try reserve?.free()
            try Self.conclude(record, in: bookkeeping)
        } catch {
            // The disk may be full, and the journal needs space too.
            try reserve?.free()
            try Self.restore(
                live,
                from: replaced,
                movingTo: staging.directory,
                state,
                bookkeeping: bookkeeping
            )
            throw error
        }
    }

    /// The journal of this commit, which is the same in every phase.
    private var state: ImportJournal {
        ImportJournal(
            phase: .clearing,
            record: record,
            staging: record.staging,
            kept: kept.map { Data($0.path.bytes) },
            container: live.inode
        )
    }

    private static func advance(
        to phase: ImportJournal.Phase,
        _ state: ImportJournal,
        in live: ContainerLock,
        bookkeeping: BookkeepingDirectory
    ) throws {
        try live.root.descriptor.synchronize()
        var journal = state
        journal.phase = phase
        try journal.write(to: bookkeeping)
    }

    /// Moves out the old data, and the record of the import that made it.
    private static func clear(
        _ live: ContainerLock,
        into replaced: OpenFile,
        bookkeeping: BookkeepingDirectory,
        resuming: Bool = false
    ) throws {
        let aside = try live.place.openContainer(in: replaced)
        try move(allOf: live.root, to: aside, resuming: resuming)
        try ImportRecordFile(in: bookkeeping).setAside(in: replaced)
    }

    /// Undoes a commit that failed: moves new data back to staging, and old data back into the
    /// container.
    private static func restore(
        _ live: ContainerLock,
        from replaced: OpenFile,
        movingTo staged: OpenFile,
        _ state: ImportJournal,
        bookkeeping: BookkeepingDirectory
    ) throws {
        // The space that a dead process reserved may be needed if the disk is full.
        try RecordReserve.remove(from: bookkeeping)
        if try ImportJournal.read(from: bookkeeping)?.phase == .filling {
            try move(allOf: live.root, to: staged, resuming: true)
        }
        try advance(to: .restoring, state, in: live, bookkeeping: bookkeeping)
        try putBack(replaced, in: live, bookkeeping: bookkeeping, undone: state.staging)
        let journal = ImportJournal(phase: .staging, record: nil, staging: state.staging)
        try journal.write(to: bookkeeping)
        // It is empty now, and the caller needs the error of the commit, not one about cleaning up.
        live.place.removeEmptyContainer(from: replaced)
        try? bookkeeping.openDirectory.descriptor.removeDirectory(Leftovers.replacedName)
    }

    private static func putBack(
        _ replaced: OpenFile,
        in live: ContainerLock,
        bookkeeping: BookkeepingDirectory,
        undone: String?
    ) throws {
        let aside = try live.place.openContainer(in: replaced)
        try move(allOf: aside, to: live.root, resuming: true)
        try ImportRecordFile(in: bookkeeping).putBack(from: replaced, undone: undone)
        try live.root.descriptor.synchronize()
    }
}

// MARK: - Resuming

extension JournaledCommit {
    /// Continues the commit that `journal` describes, or undoes it if the disk is full.
    ///
    /// - Returns: Whether the new data is in the container. The journal is removed then, unless the old data
    ///   is to be kept.
    static func resume(
        _ journal: ImportJournal,
        in live: ContainerLock,
        bookkeeping: BookkeepingDirectory,
        staged: OpenFile?
    ) throws -> Bool {
        let replaced = try makeReplaced(in: bookkeeping, of: live.place, resuming: true)
        // This may be interrupted again, and is then resumed with the same token.
        var state = journal
        state.record?.staging = journal.staging
        if journal.phase == .restoring {
            try putBack(replaced, in: live, bookkeeping: bookkeeping, undone: journal.staging)
            return false
        }
        guard let staged else {
            // The container was moved away from the staging directory beside it. Continuing would
            // lose the old data for nothing.
            let message = "the data of the import is no longer beside the container"
            throw MigrationError(.containerInvalid, message)
        }
        do {
            if journal.phase == .clearing {
                try clear(live, into: replaced, bookkeeping: bookkeeping, resuming: true)
                try advance(to: .filling, state, in: live, bookkeeping: bookkeeping)
            }
            try fill(live, from: staged, resuming: true)
            try conclude(state.record, in: bookkeeping)
        } catch let error as SystemError where error.isOutOfSpace {
            try restore(live, from: replaced, movingTo: staged, state, bookkeeping: bookkeeping)
            return false
        }
        if journal.kept != nil {
            try advance(to: .replaced, state, in: live, bookkeeping: bookkeeping)
        } else {
            try bookkeeping.remove(BookkeepingDirectory.journalName)
        }
        return true
    }

    /// Makes the directory for the old data, with the layout of `place`.
    ///
    /// A new commit must not find an existing one, which may hold other data.
    private static func makeReplaced(
        in bookkeeping: BookkeepingDirectory,
        of place: ContainerPlace,
        resuming: Bool
    ) throws(SystemError) -> OpenFile {
        let directory = bookkeeping.openDirectory
        do {
            try directory.descriptor.makeDirectory(Leftovers.replacedName, permissions: 0o700)
        } catch {
            guard error.isExisting && resuming else { throw error }
        }
        let replaced = OpenFile(
            try directory.descriptor.open(Leftovers.replacedName, .directory)
        )
        try place.makeContainer(in: replaced, resuming: resuming)
        return replaced
    }

    private static func fill(
        _ live: ContainerLock,
        from staged: OpenFile,
        resuming: Bool
    ) throws(SystemError) {
        try move(allOf: staged, to: live.root, resuming: resuming)
        try live.root.descriptor.synchronize()
        try staged.descriptor.synchronize()
    }

    /// Moves every entry except the bookkeeping and the container's own metadata.
    private static func move(
        allOf source: OpenFile,
        to destination: OpenFile,
        resuming: Bool = false
    ) throws(SystemError) {
        let listing = try DirectoryListing(of: source.descriptor)
        for index in 0..<listing.count {
            let name = listing[index]
            if ContainerLayout.ownNames.contains(name) { continue }
            try source.descriptor.move(name, into: destination.descriptor, resuming: resuming)
        }
    }

    /// Records the success.
    private static func conclude(
        _ record: ImportRecord?,
        in bookkeeping: BookkeepingDirectory
    ) throws {
        if let record { try ImportRecordFile(in: bookkeeping).conclude(record) }
    }
}

// MARK: - The journal

/// The progress of an import, for the next command if this one dies.
package struct ImportJournal: Codable, Equatable {
    package enum Phase: String, Codable {
        /// Data is being staged beside the container, which is untouched.
        case staging
        /// The old data is being moved aside; the next command continues.
        case clearing
        /// The new data is being moved in; the next command continues.
        case filling
        /// A commit failed and the old data is being moved back; the next command continues.
        case restoring
        /// The commit is done, and the old data is in the bookkeeping; the next command moves it to `kept`.
        case replaced
        /// The commit is done, and the old container is in the staging directory beside the new one; the
        /// next command moves it to `kept`.
        case exchanged

        /// Whether the container is completely the old one or the new one.
        package var isWhole: Bool { self == .staging || isCommitted }

        /// Whether the container is the new one, and only the old data is still to be moved.
        var isCommitted: Bool { self == .replaced || self == .exchanged }
    }

    package static let currentVersion = 1

    package var version = Self.currentVersion
    package var phase: Phase
    /// The record of a success.
    package var record: ImportRecord?
    /// The token in the import's staging directory.
    package var staging: String?
    /// The path to which the old data is moved when the commit is done; `nil` removes it.
    package var kept: Data?
    /// The inode of the container's directory, without which ``kept`` doesn't count: a stranger who made the
    /// container could name any path, but not a number that its directory only gets on this machine.
    private var container: UInt64?

    package init(
        phase: Phase,
        record: ImportRecord?,
        staging: String?,
        kept: Data? = nil,
        container: UInt64? = nil
    ) {
        (self.phase, self.record, self.staging, self.kept) = (phase, record, staging, kept)
        self.container = container
    }

    /// Refuses to move data to a path that no import into the locked container named.
    func checkBelongs(to lock: ContainerLock) throws(MigrationError) {
        guard let kept, container != lock.inode else { return }
        throw MigrationError(
            .containerInvalid,
            "the container is a copy of one whose import was to keep data in "
                + PrintableText.escaping([UInt8](kept)),
            path: BookkeepingDirectory.path(of: BookkeepingDirectory.journalName, in: lock.path),
            remedy: .discardImport
        )
    }

    private struct Versioned: Decodable {
        let version: Int
    }

    package static func read(from bookkeeping: BookkeepingDirectory) throws -> ImportJournal? {
        guard let data = try bookkeeping.read(BookkeepingDirectory.journalName) else { return nil }
        let version = try BookkeepingCoding.decode(Versioned.self, from: data).version
        guard version == currentVersion else { throw ImportRecord.NewerVersion(version: version) }
        return try BookkeepingCoding.decode(ImportJournal.self, from: data)
    }

    /// Reads the journal of the container at `path`; an error names its file.
    package static func read(
        from bookkeeping: BookkeepingDirectory,
        of path: BytePath
    ) throws(MigrationError) -> ImportJournal? {
        do {
            return try read(from: bookkeeping)
        } catch {
            // A decoder's message does not help a person.
            let isUnderstood = !(error is DecodingError)
            throw MigrationError(
                .containerInvalid,
                isUnderstood
                    ? "the container's bookkeeping can't be read"
                    : "the journal of an import can't be understood",
                path: BookkeepingDirectory.path(of: BookkeepingDirectory.journalName, in: path),
                cause: isUnderstood ? error : nil,
                remedy: isUnderstood ? nil : .discardImport
            )
        }
    }

    package func write(to bookkeeping: BookkeepingDirectory) throws {
        let data = try BookkeepingCoding.encode(self)
        try bookkeeping.write(data, as: BookkeepingDirectory.journalName)
    }
}
