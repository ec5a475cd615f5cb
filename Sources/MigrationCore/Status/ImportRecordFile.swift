internal import Foundation
internal import MigrationContract
internal import MigrationSystem

/// The file that keeps the record of a container's last import.
///
/// Nothing else reads, writes or removes it.
struct ImportRecordFile {
    private static let name = BookkeepingDirectory.recordName
    private static let readingName = "import-status-read.json"

    private let bookkeeping: BookkeepingDirectory

    init(in bookkeeping: BookkeepingDirectory) {
        self.bookkeeping = bookkeeping
    }

    /// Reads the record; `nil` if there is none.
    func read() throws -> ImportRecord? {
        try bookkeeping.read(Self.name).map {
            try BookkeepingCoding.decode(ImportRecord.self, from: $0)
        }
    }

    /// The activity of the data that stays in the container where an import fails.
    var keptActivity: ResumeActivity? {
        // A record that can't be read is replaced by that of the failure, as ever.
        (try? read())?.activity
    }

    /// Replaces the record, in the space of `reserve` if the disk may be full by now.
    func write(_ record: ImportRecord, using reserve: RecordReserve? = nil) throws {
        let data = try BookkeepingCoding.encode(record)
        if let identity = record.container {
            let identity = try BookkeepingCoding.encode(identity)
            try bookkeeping.write(identity, as: ContainerIdentity.fileName)
        }
        if record.outcome == .success {
            // A fingerprint older than the replaced record must never count again.
            try? bookkeeping.remove(BookkeepingDirectory.lastImportName)
        } else {
            keepFingerprint(before: record)
        }
        if try reserve?.write(data) == true { return }
        try bookkeeping.write(data, as: Self.name)
    }

    /// Puts `previous` in the place of the record of an import that was undone.
    ///
    /// It is what the container's data came from. Where it can't be put back, the record of the failure
    /// that follows is still true.
    func putBack(_ previous: ImportRecord?) {
        if let data = try? previous.map({ try BookkeepingCoding.encode($0) }) {
            try? bookkeeping.write(data, as: Self.name)
        } else {
            try? bookkeeping.remove(Self.name)
        }
    }

    /// Removes the record, if there is one.
    func remove() throws(SystemError) {
        keepFingerprint()
        try bookkeeping.remove(Self.name)
        // Without the record it has no meaning, and the next record does not match it.
        try? bookkeeping.remove(Self.readingName)
    }
}

extension MigrationDataContainer {
    /// Reads the record without finishing an interrupted import; `nil` if there is none.
    func storedImportRecord() throws(MigrationError) -> ImportRecord? {
        do {
            let root = OpenFile(try FileDescriptor.open(rootPath, .directory))
            let bookkeeping = try BookkeepingDirectory(in: root)
            return try bookkeeping.flatMap { try ImportRecordFile(in: $0).read() }
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

// MARK: - What was imported last

extension ImportRecordFile {
    /// The part of a success's record that stays when another record replaces it, or when it is cleared.
    private struct LastImport: Codable {
        static let currentVersion = 1

        var version = Self.currentVersion
        let fingerprint: String
    }

    /// The fingerprint of the archive that the container's data came from; `nil` if it is not known.
    func lastFingerprint() throws -> String? {
        if let record = try? read(), record.outcome == .success { return record.fingerprint }
        guard let data = try bookkeeping.read(BookkeepingDirectory.lastImportName) else {
            return nil
        }
        // One that can't be understood counts as none: the import is made once more.
        let last = try? BookkeepingCoding.decode(LastImport.self, from: data)
        return last?.version == LastImport.currentVersion ? last?.fingerprint : nil
    }

    /// Keeps the fingerprint of a success whose record is about to go, for `next` if another follows.
    ///
    /// If this fails, the import only runs once more.
    private func keepFingerprint(before next: ImportRecord? = nil) {
        guard let record = try? read(), record.outcome == .success else { return }
        // A success of the same import was undone, and the data came from another archive.
        if let staging = next?.staging, record.staging == staging { return }
        guard let fingerprint = record.fingerprint,
            let data = try? BookkeepingCoding.encode(LastImport(fingerprint: fingerprint))
        else {
            try? bookkeeping.remove(BookkeepingDirectory.lastImportName)
            return
        }
        try? bookkeeping.write(data, as: BookkeepingDirectory.lastImportName)
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
        // A damaged note counts as none: it says nothing about the import itself.
        let reading = try? BookkeepingCoding.decode(Reading.self, from: data)
        guard let reading, reading.version == Reading.currentVersion,
            reading.record == record.withoutActivity
        else { return nil }
        return reading.date
    }

    /// Notes that an app asked for `record` now, unless one did before.
    func noteReading(of record: ImportRecord) throws {
        guard try firstReading(of: record) == nil else { return }
        let reading = Reading(date: Date(), record: record.withoutActivity)
        let data = try BookkeepingCoding.encode(reading)
        try bookkeeping.write(data, as: Self.readingName)
    }
}

// MARK: - Space for the record of a failure

/// Disk space set aside when an import begins, so that a failure can be recorded on a full disk.
///
/// It is the file that will replace the record, so recording the failure needs neither new bytes
/// nor a new file. If the process dies, the file is removed like any unfinished replacement.
struct RecordReserve {
    /// More than any record takes, whatever the error in it says.
    private static let size = 192 * 1024

    private static let name = BookkeepingDirectory.temporaryName(
        for: BookkeepingDirectory.recordName
    )

    private let directory: OpenFile
    private let file: OpenFile

    /// Sets the space aside in `bookkeeping`.
    static func make(
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
    /// The open file is cut, whatever has its name by now.
    func free() throws(SystemError) {
        try file.descriptor.setSize(0)
    }

    /// Removes from `bookkeeping` the space that a dead process set aside.
    static func remove(from bookkeeping: BookkeepingDirectory) throws(SystemError) {
        try bookkeeping.remove(name)
    }

    /// Writes `data` into the space and makes it the record.
    ///
    /// - Returns: Whether the space was still there; another file may have taken its name.
    fileprivate func write(_ data: Data) throws(SystemError) -> Bool {
        let reserved = try file.descriptor.status().identity
        let current = try? directory.descriptor.status(of: Self.name).identity
        guard current == reserved else { return false }
        let bytes = [UInt8](data)
        try file.descriptor.writeAll(bytes.span, at: 0)
        try file.descriptor.setSize(UInt64(bytes.count))
        try file.descriptor.synchronize()
        let final = [UInt8](utf8: BookkeepingDirectory.recordName)
        try directory.descriptor.rename(Self.name, to: final, in: directory.descriptor)
        try directory.descriptor.synchronize()
        return true
    }
}
