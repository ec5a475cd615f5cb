internal import Foundation
internal import MigrationSystem

/// Makes a staged container the live one by moving its contents, in steps that can be resumed.
///
/// The journal in the live container names the current step: first the old data is moved aside,
/// then the new data is moved in. The next command that finds a journal continues from there, so a
/// crash only delays the new container.
struct JournaledCommit {
    let path: BytePath
    let live: OpenFile
    let staging: StagingDirectory
    let record: ImportRecord
    /// The space set aside for the record of a failure, to be freed if the commit needs it.
    var reserve: RecordReserve?

    /// Commits from the beginning; returns an error for each leftover that could not be removed.
    func run() throws -> [MigrationError] {
        let bookkeeping = try BookkeepingDirectory.make(in: live)
        let replaced = try Self.makeReplaced(in: bookkeeping, resuming: false)
        try moveData(asideTo: replaced, bookkeeping)
        var leftovers = Leftovers(of: path)
        leftovers.removeJournal(from: bookkeeping)
        // A journal that stays needs the staged data when the commit is resumed.
        guard leftovers.problems.isEmpty else { return leftovers.problems }
        leftovers.remove(staging)
        leftovers.remove(in: bookkeeping)
        leftovers.removeBeside(of: StagingToken.all(in: bookkeeping))
        return leftovers.problems
    }

    /// Moves the old data out and the new data in and records that, or restores everything.
    func moveData(asideTo replaced: OpenFile, _ bookkeeping: BookkeepingDirectory) throws {
        let file = ImportRecordFile(in: bookkeeping)
        let previous = Result { try file.read() }
        do {
            try Self.advance(to: .clearing, record: record, in: live, bookkeeping: bookkeeping)
            try Self.move(allOf: live, to: replaced)
            try Self.advance(to: .filling, record: record, in: live, bookkeeping: bookkeeping)
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
                record: record,
                bookkeeping: bookkeeping
            )
            if case .success(let previous) = previous { file.putBack(previous) }
            throw error
        }
    }

    private static func advance(
        to phase: ImportJournal.Phase,
        record: ImportRecord?,
        in live: OpenFile,
        bookkeeping: BookkeepingDirectory
    ) throws {
        try live.descriptor.synchronize()
        let journal = ImportJournal(phase: phase, record: record, staging: record?.staging)
        try journal.write(to: bookkeeping)
    }

    /// Undoes a commit that failed: new data back to staging, old data back to its place.
    private static func restore(
        _ live: OpenFile,
        from replaced: OpenFile,
        movingTo staged: OpenFile,
        record: ImportRecord?,
        bookkeeping: BookkeepingDirectory
    ) throws {
        // Space that a dead process set aside is in the way if the disk is full.
        try RecordReserve.remove(from: bookkeeping)
        if try ImportJournal.read(from: bookkeeping)?.phase == .filling {
            try move(allOf: live, to: staged, resuming: true)
        }
        try advance(to: .restoring, record: record, in: live, bookkeeping: bookkeeping)
        try putBack(replaced, in: live)
        let journal = ImportJournal(phase: .staging, record: nil, staging: record?.staging)
        try journal.write(to: bookkeeping)
        // It is empty now, and the caller needs the error of the commit, not one about cleaning up.
        try? bookkeeping.openDirectory.descriptor.removeDirectory(Leftovers.replacedName)
    }

    private static func putBack(
        _ replaced: OpenFile,
        in live: OpenFile
    ) throws(SystemError) {
        try move(allOf: replaced, to: live, resuming: true)
        try live.descriptor.synchronize()
    }
}

// MARK: - Resuming

extension JournaledCommit {
    /// Continues the commit that `journal` describes, or undoes it if the disk is full.
    ///
    /// - Returns: Whether the new data is in the container and the journal is removed.
    static func resume(
        _ journal: ImportJournal,
        in live: OpenFile,
        bookkeeping: BookkeepingDirectory,
        staged: OpenFile?
    ) throws -> Bool {
        let replaced = try makeReplaced(in: bookkeeping, resuming: true)
        // This may be interrupted again, and is then resumed by the same token.
        var record = journal.record
        record?.staging = journal.staging
        if journal.phase == .restoring {
            try putBack(replaced, in: live)
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
                try move(allOf: live, to: replaced, resuming: true)
                try advance(to: .filling, record: record, in: live, bookkeeping: bookkeeping)
            }
            try fill(live, from: staged, resuming: true)
            try conclude(record, in: bookkeeping)
        } catch let error as SystemError where error.isOutOfSpace {
            try restore(
                live,
                from: replaced,
                movingTo: staged,
                record: record,
                bookkeeping: bookkeeping
            )
            return false
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        return true
    }

    /// Makes the directory for the old data.
    ///
    /// A new commit must not find one, which may hold other data.
    private static func makeReplaced(
        in bookkeeping: BookkeepingDirectory,
        resuming: Bool
    ) throws(SystemError) -> OpenFile {
        let directory = bookkeeping.openDirectory
        do {
            try directory.descriptor.makeDirectory(Leftovers.replacedName, permissions: 0o700)
        } catch {
            guard error.isExisting && resuming else { throw error }
        }
        return OpenFile(try directory.descriptor.open(Leftovers.replacedName, .directory))
    }

    private static func fill(
        _ live: OpenFile,
        from staged: OpenFile,
        resuming: Bool
    ) throws(SystemError) {
        try move(allOf: staged, to: live, resuming: resuming)
        try live.descriptor.synchronize()
        try staged.descriptor.synchronize()
    }

    /// Moves every entry but the bookkeeping and the container's own metadata.
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
        if let record { try ImportRecordFile(in: bookkeeping).write(record) }
    }
}

// MARK: - The journal

/// How far an import has come, for the next command if this one dies.
struct ImportJournal: Codable, Equatable {
    enum Phase: String, Codable {
        /// Data is being staged beside the container, which is untouched.
        case staging
        /// The old data is being moved aside; the next command continues.
        case clearing
        /// The new data is being moved in; the next command continues.
        case filling
        /// A commit failed and the old data is being moved back; the next command continues.
        case restoring
    }

    static let currentVersion = 1

    var version = Self.currentVersion
    var phase: Phase
    /// The record of a success.
    var record: ImportRecord?
    /// The token in the import's staging directory.
    var staging: String?

    private struct Versioned: Decodable {
        let version: Int
    }

    static func read(from bookkeeping: BookkeepingDirectory) throws -> ImportJournal? {
        guard let data = try bookkeeping.read(BookkeepingDirectory.journalName) else { return nil }
        let version = try BookkeepingCoding.decode(Versioned.self, from: data).version
        guard version == currentVersion else { throw ImportRecord.NewerVersion(version: version) }
        return try BookkeepingCoding.decode(ImportJournal.self, from: data)
    }

    /// Reads the journal of the container at `path`; an error names its file.
    static func read(
        from bookkeeping: BookkeepingDirectory,
        of path: BytePath
    ) throws(MigrationError) -> ImportJournal? {
        do {
            return try read(from: bookkeeping)
        } catch {
            // A decoder's message does not help a person.
            let isUnderstood = !(error is DecodingError)
            let message =
                isUnderstood
                ? "the container's bookkeeping can't be read"
                : "the journal of an import can't be understood; 'migrate recover --discard' gives the "
                    + "import up"
            let file = BookkeepingDirectory.path(of: BookkeepingDirectory.journalName, in: path)
            let cause = isUnderstood ? error : nil
            throw MigrationError(.containerInvalid, message, path: file, cause: cause)
        }
    }

    func write(to bookkeeping: BookkeepingDirectory) throws {
        let data = try BookkeepingCoding.encode(self)
        try bookkeeping.write(data, as: BookkeepingDirectory.journalName)
    }
}
