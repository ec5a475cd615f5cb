import Foundation
import MigrationContract
import Testing

/// The persisted form of a record, member by member.
struct ImportRecordFormTests {
    private func read(_ members: String) throws -> ImportRecord {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let text = #"{"version":1,"outcome":"success","date":"2026-03-04T05:06:07Z"\#(members)}"#
        return try decoder.decode(ImportRecord.self, from: Data(text.utf8))
    }

    private func readAgain(_ record: ImportRecord) throws -> ImportRecord {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(ImportRecord.self, from: encoder.encode(record))
    }

    @Test func `needs an outcome and a date only`() throws {
        let record = try read("")
        #expect(record.outcome == .success && record.changedTimes == 0)
        #expect(record.keptPath == nil && record.activity == nil && record.staging == nil)
        #expect(try readAgain(record) == record)
    }

    @Test(arguments: [[0x2F, 0x61], [0x2F, 0xFF, 0x0A]] as [[UInt8]])
    func `names the place of the replaced data to the byte`(_ path: [UInt8]) throws {
        var record = try read("")
        record.keptPath = path
        #expect(try readAgain(record).keptPath == path)
    }

    @Test func `refuses another version, and an activity that isn't one`() {
        #expect(throws: ImportRecord.NewerVersion.self) {
            try JSONDecoder().decode(ImportRecord.self, from: Data(#"{"version":2}"#.utf8))
        }
        #expect(throws: MigrationError.self) { try read(#","activity":"AAAA""#) }
    }
}
