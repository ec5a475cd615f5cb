internal import MigrationArchive
internal import MigrationSystem

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
