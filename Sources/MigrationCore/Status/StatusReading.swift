internal import Foundation
internal import MigrationSystem

/// When an app first asked for the import status that is set.
///
/// It lies beside the record and names it, so that one of an earlier import says nothing of a later one.
struct StatusReading: Codable {
    static let fileName = "import-status-read.json"
    private static let currentVersion = 1

    private var version = Self.currentVersion
    let date: Date
    private let record: ImportRecord

    private init(of record: ImportRecord, at date: Date) {
        self.date = date
        self.record = record
    }

    /// What is kept in `bookkeeping` of a reading of `record`; `nil` where nobody asked for it.
    static func find(
        of record: ImportRecord,
        in bookkeeping: BookkeepingDirectory
    ) throws -> StatusReading? {
        guard let data = try bookkeeping.read(fileName) else { return nil }
        // One that can't be understood is as good as none: it says nothing of the import itself.
        let reading = try? BookkeepingCoding.decode(StatusReading.self, from: data)
        guard let reading, reading.version == currentVersion, reading.record == record else {
            return nil
        }
        return reading
    }

    /// Keeps in `bookkeeping` that `record` was asked for now, unless it was before.
    static func note(of record: ImportRecord, in bookkeeping: BookkeepingDirectory) throws {
        guard try find(of: record, in: bookkeeping) == nil else { return }
        let data = try BookkeepingCoding.encode(StatusReading(of: record, at: Date()))
        try bookkeeping.write(data, as: fileName)
    }
}
