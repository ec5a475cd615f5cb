import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Operations that first finish an import that was cut off.
@Suite(.scratchDirectory)
struct RecoveringOperationTests {
    @Test(arguments: ImportMoment.allCases)
    func `is done by an export too, before it reads anything`(_ moment: ImportMoment) async throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        _ = try await MigrationHost().export(
            places.destinationContainer,
            to: .file(path: places.archive, replacesExisting: false)
        )
        try places.expectWhole(moment, old)
        #expect(try places.bookkeepingNames() == [moment.recordName])
    }

    @Test(arguments: ImportMoment.allCases)
    func `is done by a comparison too`(_ moment: ImportMoment) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        let source = ArchiveSource.file(path: places.archive)
        _ = try await source.compare(with: places.destinationContainer) { _ in }
        try places.expectWhole(moment, old)
        #expect(try places.bookkeepingNames() == [moment.recordName])
    }

    @Test(arguments: ImportMoment.allCases)
    func `is done by the next import too`(_ moment: ImportMoment) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: true)
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
        if isCutOff { try places.interrupt(at: .journalWritten, isInside: false) }
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

    @Test(arguments: [ImportMoment.clearingHalfDone, .fillingBegun, .restoringHalfDone])
    func `waits while an app uses the container, and keeps others out`(
        _ moment: ImportMoment
    ) async throws {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try places.interrupt(at: moment, isInside: false)
        let app = try LockHolder(places.destination, LOCK_SH)
        let source = ArchiveSource.file(path: places.archive)
        let error = await #expect(throws: MigrationError.self) {
            try await source.compare(with: places.destinationContainer) { _ in }
        }
        #expect(error?.code == .containerBusy)
        app.release()
        _ = try await source.compare(with: places.destinationContainer) { _ in }
    }

    @Test func `an export works once a damaged journal was given up`() async throws {
        let places = try Places()
        try (places.source / ".migration").makeDirectory()
        try (places.source / ".migration/import-journal.json").write("{")
        await #expect(throws: MigrationError.self) { try await places.exportSource() }
        let container = try MigrationDataContainer(atPath: places.source)
        #expect(try MigrationHost().recover(container, discards: true).outcome == .discarded)
        try await places.exportSource()
    }
}
