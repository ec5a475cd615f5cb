import Foundation
import Glibc
import MigrationContract
import TestSupport
import Testing

@testable import MigrationContainers

@Suite(.scratchDirectory)
struct RecoveryTests {
    private func record() throws -> ImportRecord {
        let data = Data(InterruptedImport.record.utf8)
        return try BookkeepingCoding.decode(ImportRecord.self, from: data)
    }

    @Test(arguments: ImportMoment.allCases, [false, true])
    func `gives the old container or the new one, whole`(
        _ moment: ImportMoment,
        _ isInside: Bool
    ) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: isInside)
        let record = try places.destinationContainer.importRecord()
        try places.expectWhole(moment, old)
        #expect(record?.outcome == (moment.endsWithOldData ? .interrupted : .success))
        #expect(record?.bundleIdentifier == (moment.endsWithOldData ? nil : "com.example.new"))
        #expect(try places.bookkeepingNames() == [moment.recordName])
        #expect(try !places.root.names().contains(".destination.migration-staging"))
        #expect(try places.destinationContainer.importRecord() == record)
    }

    /// A directory with the name of the record makes the last step fail.
    @Test(arguments: [ImportMoment.fillingBegun, .fillingHalfDone], [false, true])
    func `can be cut off itself`(_ moment: ImportMoment, _ isInside: Bool) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: isInside)
        let obstacle = places.destination / ".migration/import-status.json"
        try obstacle.makeDirectory()
        #expect(throws: MigrationError.self) { try places.destinationContainer.importRecord() }
        try FileManager.default.removeItem(at: obstacle.url)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        try places.expectWhole(moment, old)
    }

    /// The record of the import that made the old data stays with that data.
    @Test(arguments: ImportMoment.allCases)
    func `keeps the record of the data that stays`(_ moment: ImportMoment) throws {
        let places = try Places()
        try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        var undone = try record()
        var earlier = undone
        earlier.staging = UUID().uuidString
        earlier.keptPath = [0x61, 0xFF]
        let bookkeeping = places.destination / ".migration"
        var place = bookkeeping
        if moment.phase != .staging, moment != .clearingBegun, moment != .clearingHalfDone {
            place = bookkeeping / "replaced/.migration"
            try place.makeDirectory()
        }
        if moment.phase == .restoring {
            // Its own record may have been written before it was undone.
            undone.staging = InterruptedImport.token
            try (bookkeeping / "import-status.json").write(BookkeepingCoding.encode(undone))
        }
        try (place / "import-status.json").write(BookkeepingCoding.encode(earlier))
        let record = try places.destinationContainer.importRecord()
        #expect(record?.outcome == .success)
        #expect((record == earlier) == moment.endsWithOldData)
        let attempt = try places.destinationContainer.lastImportAttempt()
        #expect((attempt?.outcome == .interrupted) == moment.endsWithOldData)
    }

    @Test(arguments: [ImportMoment.journalWritten, .staged])
    func `is done before the status is cleared`(_ moment: ImportMoment) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        try places.destinationContainer.clearImportRecord()
        #expect(try places.destinationContainer.importRecord() == nil)
        try places.expectWhole(moment, old)
        #expect(try places.bookkeepingNames() == [])
    }

    @Test(arguments: [
        ImportMoment.clearingBegun, .clearingHalfDone, .clearingDone, .fillingHalfDone,
    ])
    func `loses nothing where the container was moved away meanwhile`(_ moment: ImportMoment) throws
    {
        let places = try Places()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        let moved = places.root / "moved"
        try places.destination.rename(to: moved)
        let container = try MigrationDataContainer(atPath: moved)
        let error = #expect(throws: MigrationError.self) { try container.importRecord() }
        #expect(error?.code == .containerInvalid)
        try moved.rename(to: places.destination)
        _ = try places.destinationContainer.importRecord()
        try places.expectWhole(moment, old)
    }

    @Test(arguments: ["", "{", "null", "{\"version\":1}", "{\"phase\":\"odd\",\"version\":1}"])
    func `names a journal that is damaged, in words for a person`(_ text: String) throws {
        let places = try Places()
        try places.makeOldDestination()
        try (places.destination / ".migration").makeDirectory()
        let journal = places.destination / ".migration/import-journal.json"
        try journal.write(text)
        let error = #expect(throws: MigrationError.self) {
            try places.destinationContainer.importRecord()
        }
        let message = "the journal of an import can't be understood"
        #expect(error?.remedy == .discardImport)
        #expect(error?.description == "\(message): \(journal.url.path)")
        #expect(try journal.contents() == Data(text.utf8))
    }

    @Test func `waits while an app uses the container`() throws {
        let places = try Places()
        try places.makeOldDestination()
        try places.interrupt(at: .clearingHalfDone, isInside: false)
        let app = try LockHolder(places.destination, LOCK_SH)
        #expect(try places.destinationContainer.importRecord() == nil)
        #expect(!(places.destination / "Documents").exists)
        app.release()
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }

    @Test(
        arguments: [ImportMoment.clearingHalfDone, .fillingBegun, .recordWritten],
        [false, true]
    )
    func `moves the replaced data to where the import was to keep it`(
        _ moment: ImportMoment,
        _ isTaken: Bool
    ) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        let kept = places.root / "kept"
        try places.interrupt(at: moment, isInside: false, keepingIn: kept)
        if isTaken {
            try kept.makeDirectory()
            let error = #expect(throws: MigrationError.self) {
                try ContainerRecovery.recover(places.destinationContainer, discards: false)
            }
            #expect(error?.message.contains(" can't be moved from ") == true)
            #expect(try places.bookkeepingNames().contains("replaced"))
            try FileManager.default.removeItem(at: kept.url)
        }
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        try places.expectWhole(moment, old)
        #expect(try places.contents(of: kept).differences(from: old) == [])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
    }

    /// A stranger who hands over a directory can write any path into its journal.
    @Test(arguments: ["clearing", "filling", "replaced", "exchanged"], [nil, 1] as [UInt64?])
    func `moves nothing to a path that no import into this directory named`(
        _ phase: String,
        _ container: UInt64?
    ) throws {
        let places = try Places()
        _ = try places.makeOldDestination()
        let planted = places.root / "planted"
        let bookkeeping = places.destination / ".migration"
        try bookkeeping.makeDirectory()
        try (bookkeeping / "replaced").makeDirectory()
        try (bookkeeping / "replaced/evil").write("evil")
        let path = Data(planted.bytes).base64EncodedString()
        let number = container.map { #","container":\#($0)"# } ?? ""
        try (bookkeeping / "import-journal.json")
            .write(#"{"version":1,"phase":"\#(phase)","kept":"\#(path)"\#(number)}"#)
        _ = try? places.destinationContainer.importRecord()
        let error = #expect(throws: MigrationError.self) {
            try ContainerRecovery.recover(places.destinationContainer, discards: false)
        }
        #expect(error?.message.contains("is a copy") == true, "\(error?.message ?? "")")
        #expect(!planted.exists)
        _ = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(try places.destinationContainer.importRecord() == nil)
        #expect(!planted.exists)
    }
}
