import Foundation
import Glibc
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationContainers
@testable import MigrationCore

@Suite(.scratchDirectory)
struct RecoveryTests {
    /// How far the dead process got, as seen on the disk.
    enum Moment: CaseIterable {
        case journalWritten, staged
        case clearingBegun, clearingHalfDone, clearingDone
        case fillingBegun, fillingHalfDone, fillingDone, recordWritten
        case restoringBegun, restoringHalfDone, restoringDone

        var phase: ImportJournal.Phase {
            switch self {
            case .journalWritten, .staged: .staging
            case .clearingBegun, .clearingHalfDone, .clearingDone: .clearing
            case .fillingBegun, .fillingHalfDone, .fillingDone, .recordWritten: .filling
            case .restoringBegun, .restoringHalfDone, .restoringDone: .restoring
            }
        }

        var endsWithOldData: Bool { phase == .staging || phase == .restoring }

        /// The file with the record of the import's outcome.
        var recordName: BytePath {
            endsWithOldData ? "import-attempt.json" : "import-status.json"
        }
    }

    private static let oldNames: [BytePath] = ["Documents", "Library", "link"]
    private static let newNames: [BytePath] = ["Documents", "top"]

    private static let token: BytePath = "0E9D7A52-6C0B-4B39-9A57-3B1D6F1C2E44"

    private static let record = ImportRecord(
        outcome: .success,
        date: Date(timeIntervalSince1970: 1_772_600_767),
        bundleIdentifier: "com.example.new",
        platform: nil,
        resourcesVersion: nil,
        fingerprint: nil
    )

    /// Makes the container, the staged data and the journal as they are at `moment`.
    private func makeState(_ moment: Moment, _ places: Places, isInside: Bool) throws {
        let live = places.destination
        let bookkeeping = live / ".migration"
        if !bookkeeping.exists { try bookkeeping.makeDirectory() }
        let holder =
            isInside ? bookkeeping / "staged" : places.root / ".destination.migration-staging"
        let staged = holder / "container"
        let replaced = bookkeeping / "replaced"
        if moment != .journalWritten {
            try holder.makeDirectory()
            try (holder / Self.token).write("")
            try staged.makeDirectory()
            try (staged / "Documents").makeDirectory()
            try (staged / "Documents/new").write("new")
            try (staged / "top").write("top")
        }
        if moment.phase != .staging { try replaced.makeDirectory() }
        let cleared: [BytePath] =
            switch moment {
            case .journalWritten, .staged, .clearingBegun, .restoringDone: []
            case .clearingHalfDone, .restoringHalfDone: ["Documents"]
            default: Self.oldNames
            }
        for name in cleared { try (live / name).rename(to: replaced / name) }
        let filled: [BytePath] =
            switch moment {
            case .fillingHalfDone: ["Documents"]
            case .fillingDone, .recordWritten: Self.newNames
            default: []
            }
        for name in filled { try (staged / name).rename(to: live / name) }
        if moment == .recordWritten {
            let data = try BookkeepingCoding.encode(Self.record)
            try (bookkeeping / "import-status.json").write(data)
        }
        let record = moment.phase == .staging ? nil : Self.record
        let token = String(decoding: Self.token.bytes, as: UTF8.self)
        let journal = ImportJournal(phase: moment.phase, record: record, staging: token)
        try (bookkeeping / "import-journal.json").write(BookkeepingCoding.encode(journal))
    }

    private func newSnapshot(_ places: Places) throws -> TreeSnapshot {
        let copy = places.root / "new"
        try copy.makeDirectory()
        try (copy / "Documents").makeDirectory()
        try (copy / "Documents/new").write("new")
        try (copy / "top").write("top")
        return try TreeSnapshot(of: copy)
    }

    /// A snapshot without times, which differ between two trees made one after the other.
    private func outline(_ snapshot: TreeSnapshot) -> [BytePath: Content] {
        snapshot.nodes.mapValues(\.content)
    }

    private func expectWhole(_ moment: Moment, _ places: Places, _ old: TreeSnapshot) throws {
        let contents = try places.contents(of: places.destination)
        if moment.endsWithOldData {
            #expect(contents.differences(from: old) == [])
        } else {
            #expect(try outline(contents) == outline(newSnapshot(places)))
        }
    }

    @Test(arguments: Moment.allCases, [false, true])
    func `gives the old container or the new one, whole`(
        _ moment: Moment,
        _ isInside: Bool
    ) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: isInside)
        let record = try places.destinationContainer.importRecord()
        try expectWhole(moment, places, old)
        #expect(record?.outcome == (moment.endsWithOldData ? .interrupted : .success))
        #expect(record?.bundleIdentifier == (moment.endsWithOldData ? nil : "com.example.new"))
        #expect(try places.bookkeepingNames() == [moment.recordName])
        #expect(try !places.root.names().contains(".destination.migration-staging"))
        #expect(try places.destinationContainer.importRecord() == record)
    }

    /// A directory with the name of the record makes the last step fail.
    @Test(arguments: [Moment.fillingBegun, .fillingHalfDone], [false, true])
    func `can be cut off itself`(_ moment: Moment, _ isInside: Bool) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: isInside)
        let obstacle = places.destination / ".migration/import-status.json"
        try obstacle.makeDirectory()
        #expect(throws: MigrationError.self) { try places.destinationContainer.importRecord() }
        try FileManager.default.removeItem(at: obstacle.url)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        try expectWhole(moment, places, old)
    }

    @Test(arguments: Moment.allCases)
    func `is done by an export too, before it reads anything`(_ moment: Moment) async throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        _ = try await MigrationHost().export(
            places.destinationContainer,
            to: .file(path: places.archive, replacesExisting: false)
        )
        try expectWhole(moment, places, old)
        #expect(try places.bookkeepingNames() == [moment.recordName])
    }

    /// The record of the import that made the old data stays with that data.
    @Test(arguments: Moment.allCases)
    func `keeps the record of the data that stays`(_ moment: Moment) throws {
        let places = try Places()
        try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        var earlier = Self.record
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
            var undone = Self.record
            undone.staging = String(decoding: Self.token.bytes, as: UTF8.self)
            try (bookkeeping / "import-status.json").write(BookkeepingCoding.encode(undone))
        }
        try (place / "import-status.json").write(BookkeepingCoding.encode(earlier))
        let record = try places.destinationContainer.importRecord()
        #expect(record?.outcome == .success)
        #expect((record == earlier) == moment.endsWithOldData)
        let attempt = try places.destinationContainer.lastImportAttempt()
        #expect((attempt?.outcome == .interrupted) == moment.endsWithOldData)
    }

    @Test(arguments: Moment.allCases)
    func `is done by a comparison too`(_ moment: Moment) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        let source = ArchiveSource.file(path: places.archive)
        _ = try await source.compare(with: places.destinationContainer) { _ in }
        try expectWhole(moment, places, old)
        #expect(try places.bookkeepingNames() == [moment.recordName])
    }

    @Test(arguments: [Moment.journalWritten, .staged])
    func `is done before the status is cleared`(_ moment: Moment) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        try places.destinationContainer.clearImportRecord()
        #expect(try places.destinationContainer.importRecord() == nil)
        try expectWhole(moment, places, old)
        #expect(try places.bookkeepingNames() == [])
    }

    @Test(arguments: Moment.allCases)
    func `is done by the next import too`(_ moment: Moment) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try makeState(moment, places, isInside: true)
        try await places.importArchive(replacing: true)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(try places.root.names() == ["app.migration", "destination", "source"])
    }

    @Test func `removes the old container that an exchange left`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        let left = places.root / ".destination.migration-staging"
        try left.makeDirectory()
        try (left / places.stagingToken()).write("")
        try (left / "locked").makeDirectory()
        try (left / "locked/old").write("old")
        try (left / "locked").setMode(0o500)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        #expect(!left.exists)
    }

    /// Another user's directory with that name.
    @Test(arguments: [true, false])
    func `leaves a sibling alone that only has the name`(_ isCutOff: Bool) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        let sibling = places.root / ".destination.migration-staging"
        try sibling.makeDirectory()
        try (sibling / "container").makeDirectory()
        try (sibling / "container/mine").write("mine")
        if isCutOff { try makeState(.journalWritten, places, isInside: false) }
        _ = try places.destinationContainer.importRecord()
        try await places.importArchive(replacing: true)
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        #expect(try (sibling / "container/mine").contents() == Data("mine".utf8))
        #expect(try sibling.names() == ["container"])
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
        let names = try places.root.names()
        #expect(
            names == [".destination.migration-staging", "app.migration", "destination", "source"]
        )
    }

    @Test(arguments: ["replaced", "staged"] as [BytePath])
    func `removes what a cut-off commit left behind its journal`(_ name: BytePath) async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        let left = places.destination / ".migration" / name
        try left.makeDirectory()
        try (left / "Documents").makeDirectory()
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
        #expect(try places.bookkeepingNames() == ["import-status.json"])
    }

    @Test func `removes old data that a journaled commit left`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        let left = places.destination / ".migration/replaced"
        try left.makeDirectory()
        try (left / "Documents").write("older data")
        _ = try await MigrationHost().export(
            places.destinationContainer,
            to: .file(path: places.root / "again", replacesExisting: false)
        )
        #expect(try places.bookkeepingNames() == ["import-status.json"])
    }

    @Test(arguments: [Moment.clearingBegun, .clearingHalfDone, .clearingDone, .fillingHalfDone])
    func `loses nothing where the container was moved away meanwhile`(_ moment: Moment) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        let moved = places.root / "moved"
        try places.destination.rename(to: moved)
        let container = try MigrationDataContainer(atPath: moved)
        let error = #expect(throws: MigrationError.self) { try container.importRecord() }
        #expect(error?.code == .containerInvalid)
        try moved.rename(to: places.destination)
        _ = try places.destinationContainer.importRecord()
        try expectWhole(moment, places, old)
    }

    @Test func `leaves a journal alone that it does not understand`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        try (places.destination / ".migration").makeDirectory()
        let journal = places.destination / ".migration/import-journal.json"
        try journal.write("{\"phase\":\"dancing\",\"version\":2}")
        #expect(throws: MigrationError.self) { try places.destinationContainer.importRecord() }
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(error?.path == journal.url.path)
        #expect(error?.description.contains("version 2") == true)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.bookkeepingNames() == ["import-journal.json"])
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

    @Test func `names bookkeeping that can't be read, and speaks of no import`() async throws {
        let places = try Places()
        let bookkeeping = places.source / ".migration"
        try bookkeeping.write("a file")
        let error = await #expect(throws: MigrationError.self) { try await places.exportSource() }
        #expect(error?.code == .containerInvalid)
        #expect(error?.message == "the container's bookkeeping can't be read")
        #expect(error?.path == bookkeeping.url.path)
    }

    @Test func `removes whatever stands in for a file that was being replaced`() async throws {
        let places = try Places()
        try (places.source / ".migration").makeDirectory()
        try (places.source / ".migration/import-status.json.new").makeDirectory()
        try await places.exportSource()
        #expect(try (places.source / ".migration").names() == [])
    }

    @Test(arguments: [Moment.clearingHalfDone, .fillingBegun, .restoringHalfDone])
    func `waits while an app uses the container, and keeps others out`(
        _ moment: Moment
    ) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try makeState(moment, places, isInside: false)
        let app = try LockHolder(places.destination, LOCK_SH)
        let source = ArchiveSource.file(path: places.archive)
        let error = await #expect(throws: MigrationError.self) {
            try await source.compare(with: places.destinationContainer) { _ in }
        }
        #expect(error?.code == .containerBusy)
        app.release()
        _ = try await source.compare(with: places.destinationContainer) { _ in }
    }

    @Test func `waits while an app uses the container`() throws {
        let places = try Places()
        try places.makeOldDestination()
        try makeState(.clearingHalfDone, places, isInside: false)
        let app = try LockHolder(places.destination, LOCK_SH)
        #expect(try places.destinationContainer.importRecord() == nil)
        #expect(!(places.destination / "Documents").exists)
        app.release()
        #expect(try places.destinationContainer.importRecord()?.outcome == .success)
    }
}
