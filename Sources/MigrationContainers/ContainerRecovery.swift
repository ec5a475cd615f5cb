internal import Foundation
public import MigrationContract
internal import MigrationSystem

/// Finishes an interrupted import: undoes it, or completes it if its commit had begun.
package enum ContainerRecovery {
    /// The result of a recovery.
    package struct Conclusion {
        /// How the interrupted import ended.
        package var outcome = RecoveryReport.Outcome.nothing

        /// Whether the records describe the last import.
        ///
        /// They don't if an import was interrupted before it changed anything, on a file system that is
        /// now read-only.
        package var isRecorded = true
    }

    /// Recovers the container in `place`, unless someone is using it.
    @discardableResult
    static func recoverIfIdle(_ place: ContainerPlace) throws(MigrationError) -> Conclusion {
        guard try needsRecovery(place.path) else { return Conclusion() }
        do {
            let lock = try ContainerLock(place, for: .writing)
            defer { lock.release() }
            return try recover(lock)
        } catch {
            guard error.code == .containerBusy || isCommitted(place.path) else { throw error }
            return Conclusion()
        }
    }

    /// Whether the container is the new one, and only the replaced data is still to be moved.
    private static func isCommitted(_ path: BytePath) -> Bool {
        // If any of it can't be read, the caller throws the error that it already has.
        guard let root = try? OpenFile(FileDescriptor.open(path, .directory)),
            let bookkeeping = try? BookkeepingDirectory(in: root)
        else { return false }
        return (try? ImportJournal.read(from: bookkeeping))?.phase.isCommitted == true
    }

    /// Recovers the container in `place`, and locks it for an app or for reading.
    ///
    /// - Throws: ``MigrationError``, of code `containerBusy` if a commit was interrupted and can't
    ///   be finished because others use the container.
    package static func lockWhole(
        _ place: ContainerPlace,
        for use: ContainerLock.Use
    ) throws(MigrationError) -> ContainerLock {
        try recoverIfIdle(place)
        let lock = try ContainerLock(place, for: use)
        do throws(MigrationError) {
            if let bookkeeping = try openBookkeeping(of: lock),
                let journal = try ImportJournal.read(from: bookkeeping, of: lock.path),
                !journal.phase.isWhole
            {
                let message =
                    "an import was interrupted during its commit and can't be finished while others "
                    + "use the container"
                throw MigrationError(.containerBusy, message, path: lock.path)
            }
        } catch {
            // If this user began an import, this user can read its journal.
            let cause = error.cause as? SystemError
            guard let cause, cause.isDenied || cause.isNotDirectory else { throw error }
        }
        return lock
    }

    /// Whether a journal or a leftover shows that an import did not finish.
    private static func needsRecovery(_ path: BytePath) throws(MigrationError) -> Bool {
        do throws(SystemError) {
            let root = OpenFile(try FileDescriptor.open(path, .directory))
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
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
    }

    /// Throws if the bookkeeping of the locked container can't be read or understood.
    package static func checkBookkeeping(of lock: ContainerLock) throws(MigrationError) {
        guard let bookkeeping = try openBookkeeping(of: lock) else { return }
        _ = try ImportJournal.read(from: bookkeeping, of: lock.path)
    }

    /// Recovers the locked container.
    ///
    /// - Throws: ``MigrationError``, also if the container is whole and only the replaced data
    ///   can't be moved to the directory that is to keep it.
    @discardableResult
    package static func recover(_ lock: ContainerLock) throws(MigrationError) -> Conclusion {
        var conclusion = Conclusion()
        let path = lock.path
        guard let bookkeeping = try openBookkeeping(of: lock) else { return conclusion }
        let tokens = StagingToken.all(in: bookkeeping)
        if let journal = try ImportJournal.read(from: bookkeeping, of: path) {
            try journal.checkBelongs(to: lock)
            do {
                conclusion.outcome = try conclude(journal, of: lock, bookkeeping: bookkeeping)
            } catch let error as SystemError where error.isReadOnly && journal.phase == .staging {
                conclusion = Conclusion(outcome: .rolledBack, isRecorded: false)
            } catch {
                throw MigrationError(
                    .containerInvalid,
                    "an interrupted import can't be finished",
                    path: path,
                    cause: error,
                    remedy: .discardImport
                )
            }
            try finishKeeping(of: lock, bookkeeping: bookkeeping)
        }
        var leftovers = Leftovers(of: path)
        leftovers.remove(in: bookkeeping)
        leftovers.removeBeside(of: tokens)
        return conclusion
    }

    /// Moves the data that a commit replaced to the directory that is to keep it, if that is still
    /// to be done.
    private static func finishKeeping(
        of lock: ContainerLock,
        bookkeeping: BookkeepingDirectory
    ) throws(MigrationError) {
        guard let journal = try ImportJournal.read(from: bookkeeping, of: lock.path),
            journal.phase.isCommitted
        else { return }
        try KeptContainer.finish(journal, of: lock, bookkeeping: bookkeeping)
    }

    private static func openBookkeeping(
        of lock: ContainerLock
    ) throws(MigrationError) -> BookkeepingDirectory? {
        do throws(SystemError) {
            return try BookkeepingDirectory(in: lock.directory)
        } catch {
            let message = "the container's bookkeeping can't be read"
            let place = BookkeepingDirectory.path(in: lock.path)
            throw MigrationError(.containerInvalid, message, path: place, cause: error)
        }
    }

    /// Finishes the import that `journal` describes; the journal stays if the data that it replaced is still
    /// to be moved.
    private static func conclude(
        _ journal: ImportJournal,
        of lock: ContainerLock,
        bookkeeping: BookkeepingDirectory
    ) throws -> RecoveryReport.Outcome {
        if journal.phase.isCommitted { return .completed }
        if journal.phase != .staging {
            let staged = try StagingToken(journal.staging).flatMap { token in
                try StagingDirectory.openContainer(
                    of: token,
                    for: lock.place,
                    inside: bookkeeping.openDirectory
                )
            }
            let commit = try JournaledCommit(journal, of: lock, bookkeeping, resuming: true)
            if try commit.resume(from: staged) { return .completed }
        }
        var attempt = ImportRecord.interrupted
        attempt.staging = journal.staging
        try ImportRecordFile(in: bookkeeping).write(attempt)
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        return .rolledBack
    }
}

extension ImportRecord {
    /// The record of an interrupted import.
    package static var interrupted: ImportRecord { ImportRecord(outcome: .interrupted) }
}

// MARK: - By request

/// The outcome of a recovery from an interrupted import.
public struct RecoveryReport: Sendable {
    /// The outcome of the import.
    public enum Outcome: String, Sendable {
        /// No import was interrupted.
        case nothing

        /// The container holds its data from before the import.
        case rolledBack

        /// The container holds the imported data.
        case completed

        /// The import could not be finished and was given up; all data was kept.
        case discarded
    }

    /// The outcome of the import.
    public let outcome: Outcome

    /// The reason for giving the import up.
    public let problem: MigrationError?

    /// Where data was moved that couldn't stay, as printable paths.
    public var kept: [String] { keptPaths.map { PrintableText.escaping($0) } }

    /// The bytes of these paths.
    package let keptPaths: [[UInt8]]

    /// The container that holds the data which the last import replaced, if it was kept and is still there.
    package var replacedPath: [UInt8]?

    /// Whether the two containers can be swapped by renaming; a mount point can't.
    package var isRenamable = false
}

extension ContainerRecovery {
    /// Finishes an interrupted import of the container, or gives it up; see the host's method.
    package static func recover(
        _ container: MigrationDataContainer,
        discards: Bool
    ) throws(MigrationError) -> RecoveryReport {
        if container.place.isBundle { NewBundle.removeLeftovers(of: container.place.path) }
        let lock = try ContainerLock(container.place, for: .writing)
        defer { lock.release() }
        let problem: MigrationError
        do {
            let conclusion = try ContainerRecovery.recover(lock)
            var report = RecoveryReport(outcome: conclusion.outcome, problem: nil, keptPaths: [])
            try report.noteReplacedData(of: container, lock.directory)
            return report
        } catch {
            guard discards else { throw error }
            problem = error
        }
        do throws(SystemError) {
            let kept = try BookkeepingRemoval(lock: lock).run().map(\.bytes)
            return RecoveryReport(outcome: .discarded, problem: problem, keptPaths: kept)
        } catch {
            let message = "the rest of an interrupted import can't be given up"
            throw MigrationError(.containerInvalid, message, path: lock.path, cause: error)
        }
    }
}

extension RecoveryReport {
    /// Records where the data that the last import replaced is.
    fileprivate mutating func noteReplacedData(
        of container: MigrationDataContainer,
        _ directory: OpenFile
    ) throws(MigrationError) {
        guard let kept = try container.storedImportRecord()?.keptPath else { return }
        let path = BytePath(kept)
        // A person couldn't go back to a directory that can't be accessed.
        guard (try? FileDescriptor.status(atPath: path).kind) == .directory else { return }
        replacedPath = kept
        // If unsure, the answer shows the way that always works: an export and an import.
        let parent = try? OpenFile(FileDescriptor.open(container.place.path.parent, .directory))
        isRenamable =
            parent.flatMap { try? $0.descriptor.isOfOneMount(with: directory.descriptor) } == true
    }
}

/// Gives up the bookkeeping of imports in a container, and keeps all data.
private struct BookkeepingRemoval {
    let lock: ContainerLock

    private var path: BytePath { lock.path }
    private var root: OpenFile { lock.directory }

    /// Gives up the bookkeeping and returns where data was kept.
    func run() throws(SystemError) -> [BytePath] {
        guard let bookkeeping = readable else {
            return try [keep(ContainerLayout.bookkeepingName, in: root)]
        }
        let directory = bookkeeping.openDirectory
        var kept: [BytePath] = []
        // This gives up exactly what can't be understood. If unsure, nothing is put back and all
        // data is kept.
        let journal = try? ImportJournal.read(from: bookkeeping)
        let phase = journal?.phase
        let isEmpty = (try? ContainerContents.holdsData(lock.root, at: path)) == false
        if phase == .exchanged, let holder = try exchangedHolder(of: journal) {
            kept.append(try keep(StagingDirectory.containerName, in: holder))
        }
        // In these phases no new data is in the container that the old data could mix with.
        if phase == .clearing || phase == .restoring || isEmpty && phase?.isCommitted != true {
            putBack(from: bookkeeping, undone: journal?.staging)
        }
        for name in try DirectoryListing(of: directory.descriptor)
        where try isOfData(name, in: directory) {
            kept.append(try keep(name, in: directory))
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        for name in BookkeepingDirectory.unfinishedNames { try bookkeeping.remove(name) }
        if !isRecordUnderstood(bookkeeping) {
            try ImportRecordFile(in: bookkeeping).remove()
        }
        try root.descriptor.synchronize()
        return kept
    }

    /// The bookkeeping, if it is a trustworthy directory.
    private var readable: BookkeepingDirectory? {
        // If anything is wrong with it, it is kept as a whole.
        (try? BookkeepingDirectory(in: root)) ?? nil
    }

    /// The staging directory, if the container that was exchanged is still in it.
    private func exchangedHolder(of journal: ImportJournal?) throws(SystemError) -> OpenFile? {
        guard let token = StagingToken(journal?.staging),
            let holder = try StagingDirectory.openHolder(of: token, beside: path),
            try holder.descriptor.statusIfPresent(of: StagingDirectory.containerName) != nil
        else { return nil }
        return holder
    }

    /// Moves old data back if nothing else has its name.
    private func putBack(from bookkeeping: BookkeepingDirectory, undone: String?) {
        let name = Leftovers.replacedName
        let directory = bookkeeping.openDirectory
        // If the data can't be reached, it is kept where it is.
        guard let replaced = try? OpenFile(directory.descriptor.open(name, .directory)),
            let container = try? lock.place.openContainer(in: replaced),
            let listing = try? DirectoryListing(of: container.descriptor)
        else { return }
        for name in listing where !ContainerLayout.ownNames.contains(name) {
            // Anything that can't be put back is kept.
            try? container.descriptor.move(name, into: lock.root.descriptor)
        }
        try? ImportRecordFile(in: bookkeeping).putBack(from: replaced, undone: undone)
        lock.place.removeEmptyContainer(from: replaced)
    }

    /// Whether `name` may hold data; an empty directory is removed.
    private func isOfData(
        _ name: [UInt8],
        in directory: OpenFile
    ) throws(SystemError) -> Bool {
        let status = try directory.descriptor.status(of: name)
        if status.kind != .directory {
            return name.starts(with: Leftovers.replacedName) || name == StagingDirectory.nameInside
        }
        do {
            try directory.descriptor.removeDirectory(name)
            return false
        } catch {
            guard error.isNotEmpty || error.isExisting else { throw error }
            return true
        }
    }

    /// Moves `name` to a free name in the container's root.
    private func keep(_ name: [UInt8], in directory: OpenFile) throws(SystemError) -> BytePath {
        var number = 1
        while true {
            let other = ContainerLayout.bookkeepingName + [UInt8](utf8: "-kept-\(number)")
            do {
                try directory.descriptor.renameExclusively(name, to: other, in: root.descriptor)
                return path / other
            } catch {
                guard error.isExisting else { throw error }
                number += 1
            }
        }
    }

    private func isRecordUnderstood(_ bookkeeping: BookkeepingDirectory) -> Bool {
        do {
            _ = try ImportRecordFile(in: bookkeeping).read()
            return true
        } catch {
            // A newer release can read it.
            return error is ImportRecord.NewerVersion
        }
    }
}
