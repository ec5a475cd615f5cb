public import Foundation
public import MigrationContract
internal import MigrationSystem

extension MigrationDataContainer {
    /// Returns what is persisted of the container's last import; `nil` where nothing is.
    ///
    /// An import that was cut off is brought to its end first, if nobody holds the container: rolled
    /// back, or forward where its commit had begun. An addition to Apple's interface.
    ///
    /// - Returns: The record of the last import, or `nil`.
    /// - Throws: ``MigrationError`` of code `statusUnreadable` where the record is damaged or of a
    ///   newer version, in which case it stays as it is, and of code `containerInvalid` where there is
    ///   no such container, or an import that was cut off can't be brought to its end.
    public func importRecord() throws(MigrationError) -> ImportRecord? {
        guard try ContainerRecovery.recoverIfIdle(rootPath) else { return .interrupted }
        return try storedImportRecord()
    }

    /// Forgets the container's last import, because the person was told of it.
    ///
    /// An import that was cut off is brought to its end first, if nobody holds the container.
    ///
    /// - Throws: ``MigrationError`` of code `statusUnreadable` where the record can't be removed, and
    ///   of code `containerInvalid` where an import that was cut off can't be brought to its end.
    public func clearImportRecord() throws(MigrationError) {
        try ContainerRecovery.recoverIfIdle(rootPath)
        do {
            let root = OpenFile(try FileDescriptor.open(rootPath.path, .directory))
            let bookkeeping = try BookkeepingDirectory(in: root)
            try bookkeeping?.remove(BookkeepingDirectory.recordName)
            // Without the record it says nothing.
            try? bookkeeping?.remove(StatusReading.fileName)
        } catch {
            let message = "the import status can't be cleared"
            throw MigrationError(.statusUnreadable, message, path: rootPath.path, cause: error)
        }
    }

    /// Returns when an app first asked ``MigrationStatus`` for the status that is set.
    ///
    /// A status is to be cleared once the person was told: one that was asked for long ago, and is still
    /// set, was forgotten. An addition to Apple's interface.
    ///
    /// - Returns: The date, to the second; `nil` where no status is set or nobody asked for it, or that could
    ///   not be kept.
    /// - Throws: ``MigrationError`` as ``importRecord()`` does.
    public func importRecordReadDate() throws(MigrationError) -> Date? {
        guard let record = try importRecord() else { return nil }
        do {
            guard let bookkeeping = try openBookkeeping() else { return nil }
            return try StatusReading.find(of: record, in: bookkeeping)?.date
        } catch {
            let message = "the import status can't be read"
            throw MigrationError(.statusUnreadable, message, path: rootPath.path, cause: error)
        }
    }

    /// Keeps that an app asked for `record`.
    func noteReading(of record: ImportRecord) throws {
        guard let bookkeeping = try openBookkeeping() else { return }
        try StatusReading.note(of: record, in: bookkeeping)
    }

    private func openBookkeeping() throws(SystemError) -> BookkeepingDirectory? {
        try BookkeepingDirectory(in: OpenFile(try FileDescriptor.open(rootPath.path, .directory)))
    }

    /// Returns the record as it is persisted; `nil` where there is none.
    func storedImportRecord() throws(MigrationError) -> ImportRecord? {
        do {
            let root = OpenFile(try FileDescriptor.open(rootPath.path, .directory))
            return try BookkeepingDirectory(in: root).flatMap { try ImportRecord.read(from: $0) }
        } catch let error as SystemError {
            if error.isMissing {
                throw MigrationError(
                    .containerInvalid,
                    "there is no container",
                    path: rootPath.path
                )
            }
            let message = "the import status can't be read"
            throw MigrationError(.statusUnreadable, message, path: rootPath.path, cause: error)
        } catch {
            let isExplained =
                error is ImportRecord.NewerVersion || error is BookkeepingDirectory.UnsuitableFile
            let message = "the import status can't be understood; it is left as it is"
            let cause = isExplained ? error : nil
            throw MigrationError(.statusUnreadable, message, path: rootPath.path, cause: cause)
        }
    }
}

extension ImportRecord {
    /// Reads the record of the container's last import; `nil` where there is none.
    static func read(from bookkeeping: BookkeepingDirectory) throws -> ImportRecord? {
        let data = try bookkeeping.read(BookkeepingDirectory.recordName)
        return try data.map { try BookkeepingCoding.decode(ImportRecord.self, from: $0) }
    }
}
