package import Foundation
package import MigrationContract
package import MigrationSystem

extension ContainerCommit {
    /// Commits by moving the contents; returns an error for each leftover that could not be removed.
    func runInSteps() throws -> [MigrationError] {
        let bookkeeping = try BookkeepingDirectory.make(in: live.directory)
        let steps = try JournaledCommit(journal, of: live, bookkeeping)
        try steps.run(from: staging.directory, freeing: reserve)
        var leftovers = Leftovers(of: live.path)
        if let kept {
            leftovers.move(to: kept) {
                try steps.advance(to: .replaced)
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

    /// The journal of the commit, which is the same in every phase.
    var journal: ImportJournal {
        ImportJournal(
            phase: .clearing,
            record: record,
            staging: record.staging,
            kept: kept.map { Data($0.path.bytes) },
            container: live.inode
        )
    }
}

/// Makes a staged container the live one by moving its contents, in steps that can be resumed.
///
/// In a bundle, everything beside `AppData` stays. The journal in the live container's bookkeeping
/// names the current step: first the old data is moved aside, then the new data is moved in. The next
/// command that finds a journal continues from there, so a crash only delays the new container.
struct JournaledCommit {
    private let live: ContainerLock
    private let bookkeeping: BookkeepingDirectory
    private let journal: ImportJournal
    private let isResumed: Bool
    /// The directory for the old data, with the layout of the container's place.
    private let replaced: OpenFile

    /// Begins or resumes the commit that `journal` describes.
    ///
    /// A new commit must not find a directory of old data, which may be another import's.
    init(
        _ journal: ImportJournal,
        of live: ContainerLock,
        _ bookkeeping: BookkeepingDirectory,
        resuming isResumed: Bool = false
    ) throws(SystemError) {
        (self.live, self.bookkeeping, self.isResumed) = (live, bookkeeping, isResumed)
        // This may be interrupted again, and is then resumed with the same token.
        var journal = journal
        journal.record?.staging = journal.staging
        self.journal = journal
        let directory = bookkeeping.openDirectory
        do {
            try directory.descriptor.makeDirectory(Leftovers.replacedName, permissions: 0o700)
        } catch {
            guard error.isExisting && isResumed else { throw error }
        }
        replaced = OpenFile(try directory.descriptor.open(Leftovers.replacedName, .directory))
        try live.place.makeContainer(in: replaced, resuming: isResumed)
    }

    /// Moves the old data out and the data of `staged` in and records that, or restores everything.
    func run(from staged: OpenFile, freeing reserve: RecordReserve?) throws {
        do {
            try advance(to: .clearing)
            try clear()
            try advance(to: .filling)
            try fill(from: staged)
            try reserve?.free()
            try conclude()
        } catch {
            // The disk may be full, and the journal needs space too.
            try reserve?.free()
            try restore(movingTo: staged)
            throw error
        }
    }

    /// Continues the commit, or undoes it if the disk is full.
    ///
    /// - Returns: Whether the new data is in the container. The journal is removed then, unless the old data
    ///   is to be kept.
    func resume(from staged: OpenFile?) throws -> Bool {
        if journal.phase == .restoring {
            try putBack()
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
                try clear()
                try advance(to: .filling)
            }
            try fill(from: staged)
            try conclude()
        } catch let error as SystemError where error.isOutOfSpace {
            try restore(movingTo: staged)
            return false
        }
        if journal.kept != nil {
            try advance(to: .replaced)
        } else {
            try bookkeeping.remove(BookkeepingDirectory.journalName)
        }
        return true
    }
}

// MARK: - Its steps

extension JournaledCommit {
    /// Records that the next phase begins.
    func advance(to phase: ImportJournal.Phase) throws {
        try live.root.descriptor.synchronize()
        var journal = journal
        journal.phase = phase
        try journal.write(to: bookkeeping)
    }

    /// Moves out the old data, and the record of the import that made it.
    private func clear() throws {
        let aside = try live.place.openContainer(in: replaced)
        try Self.move(allOf: live.root, to: aside, resuming: isResumed)
        try ImportRecordFile(in: bookkeeping).setAside(in: replaced)
    }

    private func fill(from staged: OpenFile) throws(SystemError) {
        try Self.move(allOf: staged, to: live.root, resuming: isResumed)
        try live.root.descriptor.synchronize()
        try staged.descriptor.synchronize()
    }

    /// Records the success.
    private func conclude() throws {
        if let record = journal.record { try ImportRecordFile(in: bookkeeping).conclude(record) }
    }

    /// Undoes a commit that failed: moves new data back to staging, and old data back into the
    /// container.
    private func restore(movingTo staged: OpenFile) throws {
        // The space that a dead process reserved may be needed if the disk is full.
        try RecordReserve.remove(from: bookkeeping)
        if try ImportJournal.read(from: bookkeeping)?.phase == .filling {
            try Self.move(allOf: live.root, to: staged, resuming: true)
        }
        try advance(to: .restoring)
        try putBack()
        let undone = ImportJournal(phase: .staging, record: nil, staging: journal.staging)
        try undone.write(to: bookkeeping)
        // It is empty now, and the caller needs the error of the commit, not one about cleaning up.
        live.place.removeEmptyContainer(from: replaced)
        try? bookkeeping.openDirectory.descriptor.removeDirectory(Leftovers.replacedName)
    }

    private func putBack() throws {
        let aside = try live.place.openContainer(in: replaced)
        try Self.move(allOf: aside, to: live.root, resuming: true)
        try ImportRecordFile(in: bookkeeping).putBack(from: replaced, undone: journal.staging)
        try live.root.descriptor.synchronize()
    }

    /// Moves every entry except the bookkeeping and the container's own metadata.
    private static func move(
        allOf source: OpenFile,
        to destination: OpenFile,
        resuming: Bool
    ) throws(SystemError) {
        for name in try DirectoryListing(of: source.descriptor)
        where !ContainerLayout.ownNames.contains(name) {
            try source.descriptor.move(name, into: destination.descriptor, resuming: resuming)
        }
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
