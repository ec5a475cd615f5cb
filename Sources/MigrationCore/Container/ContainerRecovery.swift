internal import Foundation
internal import MigrationArchive
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

// MARK: - By request

/// What was done about an import that had been cut off.
public struct RecoveryReport: Sendable {
    /// What became of the import.
    public enum Outcome: String, Sendable {
        /// No import had been cut off.
        case nothing

        /// The container holds what it held before the import.
        case rolledBack

        /// The container holds what was being imported.
        case completed

        /// What could not be understood, or brought to an end, was given up, and all data was kept.
        case discarded
    }

    /// What became of the import.
    public let outcome: Outcome

    /// What was wrong, where something was given up.
    public let problem: MigrationError?

    /// Where data is now that was in nobody's place, as the paths may be printed.
    public let kept: [String]
}

extension MigrationHost {
    /// Brings an import that was cut off to its end, or gives it up.
    ///
    /// Every export and import does the former by itself; this says what was done. What no import wrote
    /// where its bookkeeping should be, and what can't be brought to an end, is given up only on request.
    ///
    /// - Parameters:
    ///   - container: The container, which nobody else may be using.
    ///   - discards: Whether bookkeeping that can't be understood, or an import that can't be brought to
    ///     its end, is given up. Old data is put back where its place is free. All other data is kept in
    ///     directories `.migration-kept-1` and so on in the container.
    /// - Returns: What was done, and where data was kept.
    /// - Throws: ``MigrationError`` of code `containerBusy` while somebody uses the container, and of code
    ///   `containerInvalid` for what only giving up helps against.
    public func recover(
        _ container: MigrationDataContainer,
        discards: Bool = false
    ) throws(MigrationError) -> RecoveryReport {
        let path = container.rootPath
        let lock = try ContainerLock(path, .exclusive)
        defer { lock.release() }
        let problem: MigrationError
        do {
            let wasCutOff = try ContainerRecovery.isCutOff(path, root: lock.root)
            try ContainerRecovery.recover(path, root: lock.root)
            let record = try container.storedImportRecord()
            guard wasCutOff else {
                return RecoveryReport(outcome: .nothing, problem: nil, kept: [])
            }
            let outcome: RecoveryReport.Outcome =
                record?.outcome == .success ? .completed : .rolledBack
            return RecoveryReport(outcome: outcome, problem: nil, kept: [])
        } catch {
            guard discards else { throw error }
            problem = error
        }
        do throws(SystemError) {
            let discarding = Discarding(path: path, root: lock.root)
            let kept = try discarding.run().map { PrintableText.escaping($0.path) }
            return RecoveryReport(outcome: .discarded, problem: problem, kept: kept)
        } catch {
            let message = "what an import left can't be given up"
            throw MigrationError(.containerInvalid, message, path: path.path, cause: error)
        }
    }
}

/// Gives up the bookkeeping of imports in a container, and keeps every bit of data.
private struct Discarding {
    let path: PathName
    let root: OpenFile

    /// Gives up what can't be understood, and returns where data is now.
    func run() throws(SystemError) -> [PathName] {
        guard let bookkeeping = readable else {
            return try [keep(ContainerLayout.bookkeepingName, in: root)]
        }
        let directory = bookkeeping.openDirectory
        var kept: [PathName] = []
        let phase = (try? ImportJournal.read(from: bookkeeping))?.phase
        let isEmpty = (try? ContainerContents.holdsData(root, at: path)) == false
        // Of an import in these phases nothing is in the container that the old data could mix with.
        if phase == .clearing || phase == .restoring || isEmpty {
            putBack(from: directory)
        }
        let listing = try DirectoryListing(of: directory.descriptor)
        for index in 0..<listing.count where try isOfData(listing[index], in: directory) {
            kept.append(try keep(listing[index], in: directory))
        }
        try bookkeeping.remove(BookkeepingDirectory.journalName)
        for name in BookkeepingDirectory.unfinishedNames { try bookkeeping.remove(name) }
        if !isRecordUnderstood(bookkeeping) {
            try bookkeeping.remove(BookkeepingDirectory.recordName)
        }
        try root.descriptor.synchronize()
        return kept
    }

    /// The bookkeeping, where it is a directory that can be relied on.
    private var readable: BookkeepingDirectory? {
        (try? BookkeepingDirectory(in: root)) ?? nil
    }

    /// Puts old data back whose place is free.
    private func putBack(from bookkeeping: OpenFile) {
        let name = Leftovers.replacedName
        guard let replaced = try? OpenFile(bookkeeping.descriptor.open(name, .directory)),
            let listing = try? DirectoryListing(of: replaced.descriptor)
        else { return }
        for index in 0..<listing.count where !ContainerLayout.ownNames.contains(listing[index]) {
            // What can't be put back is kept.
            try? replaced.descriptor.move(listing[index], into: root.descriptor)
        }
    }

    /// Whether `name` may hold data; an empty directory is removed.
    private func isOfData(
        _ name: ByteString,
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
    private func keep(_ name: ByteString, in directory: OpenFile) throws(SystemError) -> PathName {
        var number = 1
        while true {
            let other = ContainerLayout.bookkeepingName + ByteString(utf8: "-kept-\(number)")
            do {
                try directory.descriptor.renameExclusively(name, to: other, in: root.descriptor)
                return PathName(parent: path.path, name: other)
            } catch {
                guard error.isExisting else { throw error }
                number += 1
            }
        }
    }

    private func isRecordUnderstood(_ bookkeeping: BookkeepingDirectory) -> Bool {
        do {
            _ = try ImportRecord.read(from: bookkeeping)
            return true
        } catch {
            // A newer release understands it.
            return error is ImportRecord.NewerVersion
        }
    }
}
