import Foundation
import MigrationContract
import TestSupport
import Testing

@testable import MigrationContainers

@Suite(.scratchDirectory)
struct ImportRecordTests {
    private let date = Date(timeIntervalSince1970: 1_772_600_767)

    private func fixture(_ name: String) throws -> Data {
        let directory = URL(filePath: #filePath).deletingLastPathComponent()
        return try Data(contentsOf: directory.appending(path: "Fixtures/\(name).json"))
    }

    private func makeContainer(_ record: Data) throws -> Places {
        let places = try Places()
        try places.destination.makeDirectory()
        try (places.destination / ".migration").makeDirectory()
        try (places.destination / ".migration/import-status.json").write(record)
        return places
    }

    @Test func `rule 27: is nil before any import`() throws {
        let places = try Places()
        try places.destination.makeDirectory()
        #expect(try places.destinationContainer.importRecord() == nil)
        #expect(try places.destination.names() == [])
    }

    @Test func `reads version 1 of a success`() throws {
        let record = try makeContainer(fixture("status-1-success")).destinationContainer
            .importRecord()
        #expect(record?.outcome == .success)
        #expect(record?.date == date)
        #expect(record?.bundleIdentifier == "com.example.notes")
        #expect(record?.platform == "iOS")
        #expect(record?.resourcesVersion == "2.1")
        #expect(record?.fingerprint == String(repeating: "0123456789abcdef", count: 4))
    }

    @Test func `reads version 1 of a failure`() throws {
        let record = try makeContainer(fixture("status-1-failure")).destinationContainer
            .importRecord()
        let information = [NSLocalizedDescriptionKey: "the notes are too old"]
        let thrown = NSError(domain: "com.example.NotesError", code: 42, userInfo: information)
        let outcome = ImportRecord.Outcome.failure(PersistedError(thrown))
        #expect(record?.outcome == outcome)
        #expect(record?.date == date)
    }

    @Test func `reads version 1 of an interrupted import`() throws {
        let record = try makeContainer(fixture("status-1-interrupted")).destinationContainer
            .importRecord()
        #expect(record?.outcome == .interrupted)
        #expect(record?.bundleIdentifier == nil)
    }

    @Test(arguments: ["success", "failure", "interrupted"])
    func `writes version 1 as it reads it`(_ name: String) throws {
        let data = try fixture("status-1-\(name)")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let record = try decoder.decode(ImportRecord.self, from: data)
        #expect(try encoder.encode(record) + Data("\n".utf8) == data)
    }

    @Test(
        arguments: [
            "", "{", "null", "[]", "{\"version\":1}", "{\"version\":1,\"outcome\":\"odd\"}",
        ]
    )
    func `keeps a damaged record in its place`(_ text: String) throws {
        let places = try makeContainer(Data(text.utf8))
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        #expect(error?.code == .statusUnreadable)
        let file = places.destination / ".migration/import-status.json"
        #expect(try file.contents() == Data(text.utf8))
    }

    @Test func `keeps a record of a newer version in its place`() throws {
        let data = try fixture("status-2")
        let places = try makeContainer(data)
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        #expect(error?.code == .statusUnreadable)
        #expect(error?.description.contains("version 2") == true)
        #expect(try (places.destination / ".migration/import-status.json").contents() == data)
    }

    @Test func `takes a record of any size that can't be one for damaged`() throws {
        let places = try makeContainer(Data(count: 2 << 20))
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        #expect(error?.code == .statusUnreadable)
    }

    @Test func `is an error where there is no container`() throws {
        let places = try Places()
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        #expect(error?.code == .containerInvalid)
        #expect(!places.destination.exists)
    }

    @Test(arguments: [-1e18, -69_430_000_000, -62_135_596_800, 0, 253_402_300_799, 3e11, 1e18])
    func `can be read again, whatever the clock says`(_ seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let record = ImportRecord(outcome: .interrupted, date: date)
        let data = try BookkeepingCoding.encode(record)
        let read = try BookkeepingCoding.decode(ImportRecord.self, from: data)
        #expect(read.date == BookkeepingCoding.readable(record.date))
    }
}
