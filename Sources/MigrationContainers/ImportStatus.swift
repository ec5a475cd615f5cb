public import Foundation
public import MigrationContract
internal import MigrationSystem

extension MigrationDataContainer {
    /// Returns the record of the import that made the container's data, or else of the last attempt; `nil` if
    /// there is neither.
    ///
    /// An import that fails leaves the data and this record; ``lastImportAttempt()`` returns how it ended. If
    /// nobody uses the container, an interrupted import is first undone, or completed if its commit had begun.
    /// An addition to Apple's interface.
    ///
    /// - Returns: The record, or `nil`.
    /// - Throws: ``MigrationError`` of code `statusUnreadable` if the record is damaged or of a
    ///   newer version, in which case it stays as it is, and of code `containerInvalid` if there is
    ///   no such container, or an interrupted import can't be finished.
    public func importRecord() throws(MigrationError) -> ImportRecord? {
        let isRecorded = try ContainerRecovery.recoverIfIdle(place).isRecorded
        let record = try storedImportRecord()
        return isRecorded || record?.outcome == .success ? record : .interrupted
    }

    /// Returns the record of the last import that failed or was interrupted; `nil` if none did since the last
    /// success, or since the status was cleared.
    ///
    /// The container still holds its data from before that import. An addition to Apple's
    /// interface.
    ///
    /// - Returns: The record, or `nil`.
    /// - Throws: ``MigrationError`` as ``importRecord()`` does.
    public func lastImportAttempt() throws(MigrationError) -> ImportRecord? {
        guard try ContainerRecovery.recoverIfIdle(place).isRecorded else { return .interrupted }
        return try storedImportRecord { try $0.attempt() }
    }

    /// Removes the records of the container's last imports, after the app has shown the status.
    ///
    /// If nobody uses the container, an interrupted import is finished first.
    ///
    /// - Throws: ``MigrationError`` of code `statusUnreadable` if the record can't be removed, and
    ///   of code `containerInvalid` if an interrupted import can't be finished.
    public func clearImportRecord() throws(MigrationError) {
        try ContainerRecovery.recoverIfIdle(place)
        try withRecordFile(failing: "the import status can't be cleared") { try $0.remove() }
    }

    /// Returns when an app first asked ``MigrationStatus`` for the status that is set.
    ///
    /// An app clears the status after it has shown it. If a status was read long ago and is still
    /// set, the app forgot to clear it. An addition to Apple's interface.
    ///
    /// - Returns: The date, to the second; `nil` if no status is set, if no app asked for it, or if
    ///   the date could not be stored.
    /// - Throws: ``MigrationError`` as ``importRecord()`` does.
    public func importRecordReadDate() throws(MigrationError) -> Date? {
        guard let record = try importRecord() else { return nil }
        var date: Date?
        try withRecordFile(failing: "the import status can't be read") {
            date = try $0.firstReading(of: record)
        }
        return date
    }

    /// Takes what the person was doing when the data in the container was exported.
    ///
    /// It is returned once. If its type is not among `types`, it is kept until
    /// ``clearImportRecord()``. An addition to Apple's interface.
    ///
    /// - Parameter types: The types of activities that the app can continue.
    /// - Returns: The activity; `nil` if there is none of these types, or it was taken.
    /// - Throws: ``MigrationError`` as ``importRecord()`` does, and of code `statusUnreadable` if it
    ///   can't be marked as taken.
    public func takeResumeActivity(
        ofTypes types: Set<String>
    ) throws(MigrationError) -> ResumeActivity? {
        guard let record = try importRecord(), let activity = record.activity,
            types.contains(activity.activityType)
        else { return nil }
        try withRecordFile(failing: "the activity can't be marked as taken") {
            try $0.write(record.withoutActivity)
        }
        return activity
    }

    /// Records that an app asked for `record`.
    func noteReading(of record: ImportRecord) throws {
        try openRecordFile()?.noteReading(of: record)
    }

    private func withRecordFile(
        failing message: String,
        _ body: (ImportRecordFile) throws -> Void
    ) throws(MigrationError) {
        do {
            if let file = try openRecordFile() { try body(file) }
        } catch {
            throw MigrationError(.statusUnreadable, message, path: rootPath, cause: error)
        }
    }

    private func openRecordFile() throws(SystemError) -> ImportRecordFile? {
        let directory = OpenFile(try FileDescriptor.open(place.path, .directory))
        return try BookkeepingDirectory(in: directory).map { ImportRecordFile(in: $0) }
    }
}

// MARK: - The status of Apple's interface

extension MigrationStatus {
    /// The outcome of the import that made the data; `nil` if there was none since the status was cleared.
    ///
    /// If no import made the data, it is the failure of the last one.
    ///
    /// The error of a failure is an `NSError` with the domain, code and description of the thrown
    /// error, and as much of its other information as ``PersistedError`` holds. For an interrupted
    /// import it is a ``MigrationError`` of code `interrupted`. If the persisted status can't be
    /// read, the result is a failure with a ``MigrationError`` of code `statusUnreadable`, or
    /// `containerInvalid` if there is no container, and the status stays as it is.
    public static var importStatus: MigrationStatus? {
        do {
            guard let container = try container, let record = try container.importRecord() else {
                return nil
            }
            // A container on a read-only file system has a status too.
            try? container.noteReading(of: record)
            return MigrationStatus(record)
        } catch {
            return .failure(error)
        }
    }

    /// Takes what the person was doing on the other device, once, so that the app can continue there.
    ///
    /// Take it before you clear the status, which clears it too. An addition to Apple's interface.
    ///
    /// - Parameter types: The types of activities that the app can continue; `nil` means those that
    ///   its `Info.plist` declares in `NSUserActivityTypes`.
    /// - Returns: The activity; `nil` if there is none of these types, if it was taken, or if it can't
    ///   be read: ``MigrationDataContainer/takeResumeActivity(ofTypes:)`` throws the reason.
    public static func takeResumeActivity(ofTypes types: Set<String>? = nil) -> ResumeActivity? {
        let declared = Bundle.main.object(forInfoDictionaryKey: "NSUserActivityTypes")
        let types = types ?? Set(declared as? [String] ?? [])
        // Like Apple's interface for the status, this one has no way to report a failure.
        return try? container?.takeResumeActivity(ofTypes: types)
    }

    /// Sets the status to `nil`, after the app has shown it.
    ///
    /// If the status can't be removed, it stays; ``MigrationDataContainer/clearImportRecord()``
    /// throws the reason.
    public static func clearImportStatus() {
        // Apple's interface has no way to report a failure here; the status then stays set.
        try? container?.clearImportRecord()
    }
}
