import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// The records that imports leave.
@Suite(.scratchDirectory)
struct ImportedRecordTests {
    @Test func `rule 27: says what was imported`() async throws {
        let places = try await Places.withSmallArchive()
        let begin = Date()
        let report = try await places.importArchive()
        let record = try #require(try places.destinationContainer.importRecord())
        #expect(record.outcome == .success)
        #expect(record.bundleIdentifier == "source")
        #expect(record.platform == "linux")
        #expect(record.resourcesVersion == "1.0")
        #expect(record.fingerprint == report.fingerprint?.description)
        #expect(record.date >= begin.addingTimeInterval(-1) && record.date <= Date())
    }

    @Test func `rule 28: forgets the record when it is cleared`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        try places.destinationContainer.clearImportRecord()
        #expect(try places.destinationContainer.importRecord() == nil)
        try places.destinationContainer.clearImportRecord()
        #expect(try places.bookkeepingNames() == ["last-import.json"])
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
    }

    @Test func `is not taken over from another container`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        let second = places.root / "second"
        let archive = places.root / "second.migration"
        _ = try await MigrationHost().export(
            places.destinationContainer,
            to: .file(path: archive, replacesExisting: false)
        )
        try places.destination.rename(to: places.root / "first")
        let damaged = try archive.contents().dropLast()
        try archive.write(damaged)
        let container = try MigrationDataContainer(atPath: second)
        await #expect(throws: ArchiveError.self) {
            try await MigrationHost().import(.file(path: archive), into: container)
        }
        #expect(!second.exists)
    }
}
