import Foundation
import Glibc
import MigrationContract
import TestSupport
import Testing

@testable import MigrationContainers

/// `migrate recover`: interrupted imports are reported, and given up if nothing else helps.
@Suite(.scratchDirectory)
struct DiscardTests {
    private func write(_ journal: String, _ places: Places) throws {
        let bookkeeping = places.destination / ".migration"
        if !bookkeeping.exists { try bookkeeping.makeDirectory() }
        try (bookkeeping / "import-journal.json").write(journal)
    }

    /// Moves the names in `names` to the place of replaced data.
    private func replace(_ names: [BytePath], _ places: Places) throws {
        let replaced = places.destination / ".migration/replaced"
        try replaced.makeDirectory()
        for name in names { try (places.destination / name).rename(to: replaced / name) }
    }

    @Test func `says that there is nothing to recover`() throws {
        let places = try Places()
        try places.makeOldDestination()
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(report.outcome == .nothing)
        #expect(report.kept == [])
        #expect(!(places.destination / ".migration").exists)
    }

    @Test func `brings to its end what can be, also where it may discard`() throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try write(#"{"version":1,"phase":"staging"}"#, places)
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(report.outcome == .rolledBack)
        #expect(try places.destinationContainer.importRecord()?.outcome == .interrupted)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
    }

    @Test(arguments: ["", "{", "null", #"{"version":2}"#, #"{"phase":"odd","version":1}"#])
    func `discards a journal that is damaged, and nothing else`(_ text: String) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try write(text, places)
        let container = try places.destinationContainer
        let error = #expect(throws: MigrationError.self) {
            try ContainerRecovery.recover(container, discards: false)
        }
        #expect(error?.code == .containerInvalid)
        let report = try ContainerRecovery.recover(container, discards: true)
        #expect(report.outcome == .discarded)
        #expect(report.problem?.description == error?.description)
        #expect(report.kept == [])
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try container.importRecord() == nil)
        try ContainerRecovery.lockWhole(container.place, for: .reading).release()
    }

    /// If the staged data is gone, every command would fail forever.
    @Test(arguments: ["clearing", "restoring"])
    func `puts old data back that had been moved aside`(_ phase: String) throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try write(#"{"version":1,"phase":"\#(phase)"}"#, places)
        try replace(["Documents", "Library"], places)
        if phase == "clearing" {
            let error = #expect(throws: MigrationError.self) {
                try places.destinationContainer.importRecord()
            }
            #expect(error?.remedy == .discardImport)
        }
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(report.outcome == (phase == "clearing" ? .discarded : .rolledBack))
        #expect(report.kept == [])
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
    }

    /// A false journal must not make data of two imports mix or disappear.
    @Test(arguments: [#"{"version":1,"phase":"filling"}"#, "damaged"])
    func `keeps old data beside what is in the container`(_ journal: String) throws {
        let places = try Places()
        try places.makeOldDestination()
        try write(journal, places)
        try replace(["Documents"], places)
        let staged = places.destination / ".migration/staged"
        try staged.makeDirectory()
        try (staged / "new").write("new")
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(report.outcome == .discarded)
        let kept = [1, 2].map {
            (places.destination / BytePath([UInt8](".migration-kept-\($0)".utf8)))
        }
        #expect(report.kept.sorted() == kept.map(\.url.path))
        let names = try kept.map { try $0.names() }
        #expect(Set(names) == [["Documents"], ["new"]])
        #expect(try (places.destination / "Library/locked/file").contents() == Data("locked".utf8))
        #expect(!(places.destination / "Documents").exists)
        #expect(try places.destinationContainer.importRecord() == nil)
    }

    @Test func `gives all of it back where the container is empty and nothing says why`() throws {
        let places = try Places()
        let old = try places.makeOldDestination()
        try write("damaged", places)
        try replace(["Documents", "Library", "link"], places)
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        #expect(report.kept == [])
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
    }

    @Test func `keeps a file that has the name of the bookkeeping`() throws {
        let places = try Places()
        try places.makeOldDestination()
        try (places.destination / ".migration").write("mine")
        let report = try ContainerRecovery.recover(places.destinationContainer, discards: true)
        let kept = places.destination / ".migration-kept-1"
        #expect(report.kept == [kept.url.path])
        #expect(try kept.contents() == Data("mine".utf8))
        #expect(try places.destinationContainer.importRecord() == nil)
    }

    @Test func `is busy while somebody uses the container`() throws {
        let places = try Places()
        try places.makeOldDestination()
        try write("damaged", places)
        let app = try LockHolder(places.destination, LOCK_SH)
        let error = #expect(throws: MigrationError.self) {
            try ContainerRecovery.recover(places.destinationContainer, discards: true)
        }
        #expect(error?.code == .containerBusy)
        app.release()
    }
}
