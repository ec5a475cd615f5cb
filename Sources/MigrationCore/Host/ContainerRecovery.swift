internal import Foundation
internal import MigrationSystem

/// Brings an import that was cut off to its end: back, or forward where its commit had begun.
enum ContainerRecovery {
    /// Recovers the container at `path` unless somebody is using it.
    static func recoverIfIdle(_ path: PathName) throws(MigrationError) {
        guard try needsRecovery(path) else { return }
        do {
            let lock = try ContainerLock(path, .exclusive)
            defer { lock.release() }
            try recover(path, root: lock.root)
        } catch {
            guard error.code == .containerBusy else { throw error }
        }
    }

    /// Whether a journal or a staging directory says that an import did not come to its end.
    private static func needsRecovery(_ path: PathName) throws(MigrationError) -> Bool {
        do throws(SystemError) {
            let root = OpenFile(try FileDescriptor.open(path.path, .directory))
            let bookkeeping = try BookkeepingDirectory(in: root)
            if try bookkeeping?.read(BookkeepingDirectory.journalName) != nil { return true }
            let parent = try FileDescriptor.open(path.parent, .directory)
            _ = try parent.status(of: StagingDirectory.nameBeside(path))
            return true
        } catch {
            if error.isMissing || error.isDenied || error.isNotDirectory { return false }
            let message = "the container can't be read"
            throw MigrationError(.containerInvalid, message, path: path.path, cause: error)
        }
    }

    /// Recovers the container whose root is locked and open as `root`.
    static func recover(_ path: PathName, root: OpenFile) throws(MigrationError) {
        do {
            guard let bookkeeping = try BookkeepingDirectory(in: root) else {
                return try removeStaging(path, root: root)
            }
            try bookkeeping.removeUnfinished()
            guard let journal = try ImportJournal.read(from: bookkeeping) else {
                // A commit that was done may have been cut off before its old data was gone.
                try JournaledCommit.removeReplaced(in: bookkeeping)
                return try removeStaging(path, root: root)
            }
            switch journal.phase {
            case .staging: break
            case .clearing, .filling, .restoring:
                let staged = try openStaging(path, bookkeeping)
                try JournaledCommit.resume(journal, in: root, bookkeeping, staged: staged)
            }
            if journal.phase == .staging || journal.phase == .restoring {
                let data = try BookkeepingCoding.encode(ImportRecord.interrupted)
                try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
                try bookkeeping.remove(BookkeepingDirectory.journalName)
                try JournaledCommit.removeReplaced(in: bookkeeping)
            }
            try removeStaging(path, root: root)
        } catch {
            let message = "an interrupted import can't be brought to its end"
            throw MigrationError(.containerInvalid, message, path: path.path, cause: error)
        }
    }

    private static func openStaging(
        _ path: PathName,
        _ bookkeeping: BookkeepingDirectory
    ) throws(SystemError) -> OpenFile? {
        do {
            let inside = bookkeeping.openDirectory
            return OpenFile(try inside.descriptor.open(StagingDirectory.nameInside, .directory))
        } catch {
            guard error.isMissing else { throw error }
        }
        do {
            let parent = try FileDescriptor.open(path.parent, .directory)
            return OpenFile(try parent.open(StagingDirectory.nameBeside(path), .directory))
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Removes the staging directories that a dead import left, or the old container after a commit.
    private static func removeStaging(_ path: PathName, root: OpenFile) throws(SystemError) {
        if let bookkeeping = try BookkeepingDirectory(in: root) {
            let name = StagingDirectory.nameInside
            try StagingDirectory.removeLeftover(name, in: bookkeeping.openDirectory)
        }
        do {
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            try StagingDirectory.removeLeftover(StagingDirectory.nameBeside(path), in: parent)
        } catch {
            // Somebody else's work, or a parent in which nothing could have been left.
            guard error.isBusy || error.isDenied || error.isReadOnly else { throw error }
        }
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
