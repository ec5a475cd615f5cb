internal import Foundation
package import MigrationContract
package import MigrationSystem

/// The files that keep the records of a container's imports: of the one that made its data, and of the
/// last attempt that failed since.
///
/// Nothing else reads, writes or removes them.
package struct ImportRecordFile {
    private static let name = BookkeepingDirectory.recordName
    private static let attemptName = BookkeepingDirectory.attemptName
    private static let readingName = BookkeepingDirectory.readingName

    private let bookkeeping: BookkeepingDirectory

    package init(in bookkeeping: BookkeepingDirectory) {
        self.bookkeeping = bookkeeping
    }

    /// Reads the record of the import that made the data, or else of the last attempt; `nil` if there is
    /// neither.
    package func read() throws -> ImportRecord? {
        if let record = try read(Self.name), record.outcome == .success { return record }
        return try attempt()
    }

    /// Reads the record of the last attempt that failed; `nil` if the last import succeeded.
    func attempt() throws -> ImportRecord? {
        if let attempt = try read(Self.attemptName) { return attempt }
        // A container without a success may have the record of a failure instead.
        let record = try read(Self.name)
        return record?.outcome == .success ? nil : record
    }

    private func read(_ name: String) throws -> ImportRecord? {
        try bookkeeping.read(name).map {
            try BookkeepingCoding.decode(ImportRecord.self, from: $0)
        }
    }

    /// The tokens of the imports whose records are here; a record that can't be read has none.
    var stagingTokens: [String?] {
        // Code that needs the whole record reports why it can't be read.
        [(try? attempt())?.staging, (try? read(Self.name))?.staging]
    }

    /// Replaces the record of its kind; the record of an attempt uses the space of `reserve`,
    /// because the disk may be full by now.
    package func write(_ record: ImportRecord, using reserve: RecordReserve? = nil) throws {
        let data = try BookkeepingCoding.encode(record)
        if let identity = record.container {
            let identity = try BookkeepingCoding.encode(identity)
            try bookkeeping.write(identity, as: ContainerIdentity.fileName)
        }
        if record.outcome == .success { return try bookkeeping.write(data, as: Self.name) }
        if try reserve?.write(data) == true { return }
        try bookkeeping.write(data, as: Self.attemptName)
    }

    /// Records a success, after which no earlier import or attempt counts.
    package func conclude(_ success: ImportRecord) throws {
        // A fingerprint older than the replaced record must never count again.
        try bookkeeping.remove(BookkeepingDirectory.lastImportName)
        try write(success)
        try bookkeeping.remove(Self.attemptName)
    }

    /// Removes the records, if there are any.
    package func remove() throws(SystemError) {
        try keepFingerprint()
        // This comes first, so that the attempt is never mistaken for the status of data that an
        // import made.
        try bookkeeping.remove(Self.attemptName)
        try bookkeeping.remove(Self.name)
        // Without the record the note is meaningless, and the next record doesn't match it.
        try? bookkeeping.remove(Self.readingName)
    }
}

// MARK: - With the data

extension ImportRecordFile {
    /// Moves the files about the import that made the data to `place`, beside the data.
    func setAside(in place: OpenFile) throws {
        for name in BookkeepingDirectory.namesOfData where try bookkeeping.has(name) {
            try BookkeepingDirectory.make(in: place).take(name, from: bookkeeping)
        }
    }

    /// Moves them back from `place`, after the import with the token `undone` was undone.
    func putBack(from place: OpenFile, undone: String?) throws {
        // A record that can't be read isn't the undone import's, and stays.
        if let undone, let record = try? read(Self.name), record.staging == undone {
            try bookkeeping.remove(Self.name)
        }
        guard let aside = try BookkeepingDirectory(in: place) else { return }
        for name in BookkeepingDirectory.namesOfData where try aside.has(name) {
            try bookkeeping.take(name, from: aside)
        }
    }
}

extension MigrationDataContainer {
    /// Reads a record with `body`, without finishing an interrupted import; `nil` if there is none.
    func storedImportRecord(
        _ body: (ImportRecordFile) throws -> ImportRecord? = { try $0.read() }
    ) throws(MigrationError) -> ImportRecord? {
        do {
            let directory = OpenFile(try FileDescriptor.open(place.path, .directory))
            let bookkeeping = try BookkeepingDirectory(in: directory)
            return try bookkeeping.flatMap { try body(ImportRecordFile(in: $0)) }
        } catch let error as SystemError {
            if error.isMissing {
                throw MigrationError(
                    .containerInvalid,
                    "there is no container",
                    path: rootPath
                )
            }
            let message = "the import status can't be read"
            throw MigrationError(.statusUnreadable, message, path: rootPath, cause: error)
        } catch {
            let isExplained =
                error is ImportRecord.NewerVersion || error is BookkeepingDirectory.UnsuitableFile
            let message = "the import status can't be understood; it is left as it is"
            let cause = isExplained ? error : nil
            throw MigrationError(.statusUnreadable, message, path: rootPath, cause: cause)
        }
    }
}

// MARK: - The last import

extension ImportRecordFile {
    /// The part of a success's record that stays when it is cleared.
    private struct LastImport: Codable {
        static let currentVersion = 1

        var version = Self.currentVersion
        let fingerprint: String
    }

    /// The fingerprint of the archive that the container's data came from; `nil` if it is not known.
    package func lastFingerprint() throws -> String? {
        // If the record can't be read, the fingerprint that is kept beside it counts.
        if let record = try? read(Self.name), record.outcome == .success {
            return record.fingerprint
        }
        guard let data = try bookkeeping.read(BookkeepingDirectory.lastImportName) else {
            return nil
        }
        // A file that can't be understood counts as missing: the import runs again.
        let last = try? BookkeepingCoding.decode(LastImport.self, from: data)
        return last?.version == LastImport.currentVersion ? last?.fingerprint : nil
    }

    /// Keeps the fingerprint of a success whose record is about to be removed.
    ///
    /// If it can't be kept, the import only runs again. But the fingerprint of an older import must
    /// not remain.
    private func keepFingerprint() throws(SystemError) {
        // A record that can't be read has no fingerprint to keep.
        guard let record = try? read(Self.name), record.outcome == .success else { return }
        do {
            if let fingerprint = record.fingerprint {
                let data = try BookkeepingCoding.encode(LastImport(fingerprint: fingerprint))
                return try bookkeeping.write(data, as: BookkeepingDirectory.lastImportName)
            }
        } catch {
            // Continue as if there were no fingerprint.
        }
        try bookkeeping.remove(BookkeepingDirectory.lastImportName)
    }
}

// MARK: - When an app first asked

extension ImportRecordFile {
    /// A note beside the record: when an app first asked for it.
    ///
    /// It contains the record, so that it never counts for a later import.
    private struct Reading: Codable {
        static let currentVersion = 1

        var version = Self.currentVersion
        let date: Date
        let record: ImportRecord
    }

    /// When an app first asked for `record`; `nil` if none did.
    func firstReading(of record: ImportRecord) throws -> Date? {
        guard let data = try bookkeeping.read(Self.readingName) else { return nil }
        // A damaged note counts as missing, because it isn't about the import itself.
        let reading = try? BookkeepingCoding.decode(Reading.self, from: data)
        guard let reading, reading.version == Reading.currentVersion,
            reading.record == record.withoutActivity
        else { return nil }
        return reading.date
    }

    /// Records that an app asked for `record` now, unless one did before.
    func noteReading(of record: ImportRecord) throws {
        guard try firstReading(of: record) == nil else { return }
        let reading = Reading(date: Date(), record: record.withoutActivity)
        let data = try BookkeepingCoding.encode(reading)
        try bookkeeping.write(data, as: Self.readingName)
    }
}

// MARK: - Space for the record of a failure

/// Disk space reserved when an import begins, so that a failure can be recorded on a full disk.
///
/// It is the file that will replace the record of the last attempt, so recording the failure needs neither new bytes
/// nor a new file. If the process dies, the file is removed like any unfinished replacement.
package struct RecordReserve {
    /// More than any record takes, whatever its error.
    private static let size = 192 * 1024

    private static let name = BookkeepingDirectory.temporaryName(
        for: BookkeepingDirectory.attemptName
    )

    private let directory: OpenFile
    private let file: OpenFile

    /// Reserves the space in `bookkeeping`.
    package static func make(
        in bookkeeping: BookkeepingDirectory
    ) throws(SystemError) -> RecordReserve {
        try bookkeeping.remove(name)
        let directory = bookkeeping.openDirectory
        let file = try bookkeeping.makeFile(name)
        do {
            // Not zeros, because a file system may reserve no space for them.
            let filling = [UInt8](repeating: UInt8(ascii: " "), count: size)
            try file.descriptor.writeAll(filling.span)
        } catch {
            // The caller needs this error, not one about cleaning up.
            try? directory.descriptor.removeFile(name)
            throw error
        }
        return RecordReserve(directory: directory, file: file)
    }

    /// Frees the space for other files.
    ///
    /// The open file is truncated, whatever has its name by now.
    package func free() throws(SystemError) {
        try file.descriptor.setSize(0)
    }

    /// Removes from `bookkeeping` the space that a dead process reserved.
    package static func remove(from bookkeeping: BookkeepingDirectory) throws(SystemError) {
        try bookkeeping.remove(name)
    }

    /// Writes `data` into the space and makes it the record.
    ///
    /// - Returns: Whether the space was still there; another file may have taken its name.
    fileprivate func write(_ data: Data) throws(SystemError) -> Bool {
        let reserved = try file.descriptor.status().identity
        // If the name is gone or can't be checked, the space isn't used.
        let current = try? directory.descriptor.status(of: Self.name).identity
        guard current == reserved else { return false }
        let bytes = [UInt8](data)
        try file.descriptor.writeAll(bytes.span, at: 0)
        try file.descriptor.setSize(UInt64(bytes.count))
        try file.descriptor.synchronize()
        let final = [UInt8](utf8: BookkeepingDirectory.attemptName)
        try directory.descriptor.rename(Self.name, to: final, in: directory.descriptor)
        try directory.descriptor.synchronize()
        return true
    }
}
