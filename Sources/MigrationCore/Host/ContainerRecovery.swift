internal import Foundation
internal import MigrationSystem

/// Brings an import that was cut off to its end: back, or forward where its commit had begun.
enum ContainerRecovery {
    /// Recovers the container at `path` unless somebody is using it.
    ///
    /// - Returns: Whether the record tells of the last import. It does not where one was cut off that
    ///   changed nothing, on a file system that takes no changes.
    @discardableResult
    static func recoverIfIdle(_ path: PathName) throws(MigrationError) -> Bool {
        guard try needsRecovery(path) else { return true }
        do {
            let lock = try ContainerLock(path, .exclusive)
            defer { lock.release() }
            return try recover(path, root: lock.root)
        } catch {
            guard error.code == .containerBusy else { throw error }
            return true
        }
    }

    /// Locks the container at `path` together with others who only use it, once it is whole.
    ///
    /// - Throws: ``MigrationError``, of code `containerBusy` where a commit was cut off and those who
    ///   use the container keep it from being brought to its end.
    static func lockWhole(_ path: PathName) throws(MigrationError) -> ContainerLock {
        try recoverIfIdle(path)
        let lock = try ContainerLock(path, .shared)
        do throws(MigrationError) {
            if let bookkeeping = try openBookkeeping(of: path, root: lock.root),
                let journal = try ImportJournal.read(from: bookkeeping, of: path),
                journal.phase != .staging
            {
                let message = "an import was cut off in its commit, which waits for the container"
                throw MigrationError(.containerBusy, message, path: path.path)
            }
        } catch {
            // An import that this user could have begun left a journal that this user can read.
            let cause = error.cause as? SystemError
            guard let cause, cause.isDenied || cause.isNotDirectory else { throw error }
        }
        return lock
    }

    /// Whether a journal, or something left of an import, says that it did not come to its end.
    private static func needsRecovery(_ path: PathName) throws(MigrationError) -> Bool {
        do throws(SystemError) {
            let root = OpenFile(try FileDescriptor.open(path.path, .directory))
            guard let bookkeeping = try BookkeepingDirectory(in: root) else { return false }
            if try bookkeeping.has(BookkeepingDirectory.journalName) { return true }
            if try Leftovers.are(in: bookkeeping) { return true }
            let tokens = StagingToken.all(in: bookkeeping)
            guard !tokens.isEmpty else { return false }
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            return try !StagingDirectory.leftovers(of: tokens, beside: path, in: parent).isEmpty
        } catch {
            if error.isMissing || error.isDenied || error.isNotDirectory { return false }
            let message = "the container can't be read"
            throw MigrationError(.containerInvalid, message, path: path.path, cause: error)
        }
    }

    /// Whether a journal in the container that is open as `root` says that an import was cut off.
    static func isCutOff(_ path: PathName, root: OpenFile) throws(MigrationError) -> Bool {
        guard let bookkeeping = try openBookkeeping(of: path, root: root) else { return false }
        return try ImportJournal.read(from: bookkeeping, of: path) != nil
    }

    /// Recovers the container whose root is locked and open as `root`.
    ///
    /// - Returns: Whether the record tells of the last import.
    @discardableResult
    static func recover(_ path: PathName, root: OpenFile) throws(MigrationError) -> Bool {
        var leftovers = Leftovers(of: path)
        var isRecorded = true
        if let bookkeeping = try openBookkeeping(of: path, root: root) {
            let tokens = StagingToken.all(in: bookkeeping)
            if let journal = try ImportJournal.read(from: bookkeeping, of: path) {
                do {
                    try conclude(journal, path, root, bookkeeping)
                } catch let error as SystemError
                    where error.isReadOnly && journal.phase == .staging
                {
                    isRecorded = false
                } catch {
                    let message =
                        "an interrupted import can't be brought to its end, only given up by "
                        + "'migrate recover --discard'"
                    throw MigrationError(.containerInvalid, message, path: path.path, cause: error)
                }
            }
            leftovers.remove(in: bookkeeping)
            leftovers.removeBeside(of: tokens)
        }
        return isRecorded
    }

    private static func openBookkeeping(
        of path: PathName,
        root: OpenFile
    ) throws(MigrationError) -> BookkeepingDirectory? {
        do throws(SystemError) {
            return try BookkeepingDirectory(in: root)
        } catch {
            let message = "the container's bookkeeping can't be read"
            let place = BookkeepingDirectory.path(in: path).path
            throw MigrationError(.containerInvalid, message, path: place, cause: error)
        }
    }

    /// Brings the import to its end of which `journal` tells.
    private static func conclude(
        _ journal: ImportJournal,
        _ path: PathName,
        _ root: OpenFile,
        _ bookkeeping: BookkeepingDirectory
    ) throws {
        if journal.phase != .staging {
            let staged = try StagingToken(journal.staging).flatMap { token in
                try StagingDirectory.openContainer(
                    of: token,
                    for: path,
                    inside: bookkeeping.openDirectory
                )
            }
            let isCommitted = try JournaledCommit.resume(
                journal,
                in: root,
                bookkeeping,
                staged: staged
            )
            if isCommitted { return }
        }
        var record = ImportRecord.interrupted
        record.staging = journal.staging
        let data = try BookkeepingCoding.encode(record)
        try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
    }
}

extension ImportRecord {
    /// The record of an import that was cut off.
    static var interrupted: ImportRecord {
        ImportRecord(
            outcome: .interrupted,
            date: Date(),
            bundleIdentifier: nil,
            platform: nil,
            resourcesVersion: nil,
            fingerprint: nil
        )
    }
}
