import Foundation
import Glibc
import MigrationArchive
import TestSupport
import Testing

@testable import MigrationCore

/// Imports that keep the data which they replace.
@Suite(.scratchDirectory)
struct KeptContainerTests {
    /// Imports the archive over the destination, and keeps the old data.
    @discardableResult
    private func replace(_ places: Places, keepingIn kept: BytePath) async throws -> ImportReport {
        var options = ImportOptions()
        options.keptPath = kept
        return try await places.importArchive(replacing: true, options: options)
    }

    /// Kills an import that keeps the replaced data, when it would move that.
    private func killedBehindCommit(
        _ withoutExchange: Bool
    ) async throws -> (places: Places, old: TreeSnapshot) {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        let whole = try places.runImport(
            injector: FaultInjector(.nothing),
            withoutExchange: withoutExchange,
            keepingOld: true
        )
        // After that, only the staging directory is renamed before it is removed.
        var number = try #require(whole.counts["renameat2"])
        while true {
            try places.removeDestination()
            let old = try places.makeOldDestination()
            let run = try places.runImport(
                injector: FaultInjector(.death, at: "renameat2", number...number),
                withoutExchange: withoutExchange,
                keepingOld: true
            )
            try #require(run.end == .killed)
            if !places.kept.exists { return (places, old) }
            try #require(try places.destinationContainer.importRecord() != nil)
            number -= 1
        }
    }

    @Test func `keeps a container of its own, with the record of the import that made it`()
        async throws
    {
        let places = try await Places.withSmallArchive()
        try places.makeOldDestination()
        try await places.importArchive(replacing: true)
        let earlier = try places.destinationContainer.importRecord()
        try (places.destination / "Documents/changed").write("by the app")
        let old = try places.contents(of: places.destination)
        let report = try await replace(places, keepingIn: places.kept)
        #expect(report.keptContainer == places.kept.url.path)
        #expect(report.leftovers.isEmpty)
        #expect(try places.contents(of: places.kept).differences(from: old) == [])
        let kept = try MigrationDataContainer(atPath: places.kept)
        #expect(try kept.importRecord() == earlier)
        #expect(
            try (places.kept / ".migration").names() == ["identity.json", "import-status.json"]
        )
        #expect(try places.root.names() == ["app.migration", "destination", "kept", "source"])
        // Renaming makes the old container the live one again.
        let way = try MigrationHost().recover(places.destinationContainer)
        #expect(way.replacedPath == places.kept.bytes)
        #expect(way.isRenamable)
        try places.destination.rename(to: places.root / "imported")
        try places.kept.rename(to: places.destination)
        #expect(try places.destinationContainer.importRecord() == earlier)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try MigrationHost().recover(places.destinationContainer).replacedPath == nil)
    }

    @Test func `keeps nothing where there was no data`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        let report = try await replace(places, keepingIn: places.kept)
        #expect(report.keptContainer == nil)
        #expect(!places.kept.exists)
        #expect(try places.destinationContainer.importRecord()?.keptPath == nil)
    }

    @Test(arguments: [
        ("kept", MigrationError.Code.outputExists), ("destination/new", .invalidOption),
        ("destination", .invalidOption), ("missing/kept", .invalidOption),
        ("file/kept", .invalidOption), ("/proc/kept", .invalidOption),
        ("link/new", .invalidOption),
    ])
    func `refuses a place before it reads anything`(
        _ name: String,
        _ code: MigrationError.Code
    ) async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        try places.kept.makeDirectory()
        try (places.root / "file").write("")
        try (places.root / "link").makeSymbolicLink(to: "destination")
        try places.archive.removeFile()
        let path = name.hasPrefix("/") ? BytePath(name) : places.root / BytePath(name)
        let error = await #expect(throws: MigrationError.self) {
            try await replace(places, keepingIn: path)
        }
        #expect(error?.code == code)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(!(places.destination / ".migration").exists)
    }

    @Test func `is refused where the place was taken while the archive was read`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let mutator = Mutator { try places.kept.makeDirectory() }
        var options = ImportOptions()
        options.keptPath = places.kept
        let keeping = options
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true, options: keeping, progress: mutator)
        }
        #expect(mutator.hasRun)
        #expect(error?.code == .outputExists)
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.kept.names() == [])
    }

    @Test(.injectingFaults, arguments: [false, true])
    func `the next command finishes a move that was cut off`(_ withoutExchange: Bool) async throws {
        let (places, old) = try await killedBehindCommit(withoutExchange)
        let report = try MigrationHost().recover(places.destinationContainer)
        #expect(report.outcome == .completed)
        #expect(report.replacedPath == places.kept.bytes)
        #expect(try places.contents(of: places.kept).differences(from: old) == [])
        #expect(!(places.kept / ".migration").exists)
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        #expect(try places.root.names() == ["app.migration", "destination", "kept", "source"])
    }

    /// The new container can be used, and nothing removes the old data until it has a place.
    @Test(.injectingFaults, arguments: [false, true])
    func `keeps the data where its place was taken meanwhile`(
        _ withoutExchange: Bool
    ) async throws {
        let (places, old) = try await killedBehindCommit(withoutExchange)
        try places.kept.makeDirectory()
        let container = try places.destinationContainer
        #expect(try container.importRecord()?.outcome == .success)
        _ = try await MigrationHost().export(
            container,
            to: .file(path: places.root / "again", replacesExisting: false)
        )
        try container.clearImportRecord()
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(error?.code == .containerInvalid)
        #expect(error?.path == places.kept.url.path)
        #expect(error?.message.contains(" can't be moved from ") == true)
        #expect(throws: MigrationError.self) { try MigrationHost().recover(container) }
        try FileManager.default.removeItem(at: places.kept.url)
        #expect(try MigrationHost().recover(container).outcome == .completed)
        #expect(try places.contents(of: places.kept).differences(from: old) == [])
    }

    @Test(.injectingFaults, arguments: [false, true])
    func `gives the move up on request, and keeps the data`(_ withoutExchange: Bool) async throws {
        let (places, old) = try await killedBehindCommit(withoutExchange)
        try places.kept.makeDirectory()
        let new = try places.contents(of: places.destination)
        let report = try MigrationHost().recover(places.destinationContainer, discards: true)
        #expect(report.outcome == .discarded)
        let place = places.destination / ".migration-kept-1"
        #expect(report.kept == [place.url.path])
        #expect(try places.contents(of: place).differences(from: old) == [])
        let container = try places.destinationContainer
        #expect(try container.importRecord()?.outcome == .success)
        let contents = try TreeSnapshot(
            of: places.destination,
            excluding: [".migration", ".migration-kept-1"]
        )
        #expect(contents.differences(from: new) == [])
        #expect(try places.root.names() == ["app.migration", "destination", "kept", "source"])
    }

    /// Calls of the commit that fail once: the old data is in the container, or where it is kept.
    @Test(
        .injectingFaults,
        arguments: ["fsync", "renameat", "renameat2", "unlinkat", "statx"],
        [false, true]
    )
    func `loses nothing where a call fails`(_ call: String, _ withoutExchange: Bool) async throws {
        let places = try await Places.withSmallArchive()
        let new = try TreeSnapshot(of: places.source)
        try places.makeOldDestination()
        let counts = try places.runImport(
            injector: FaultInjector(.nothing),
            withoutExchange: withoutExchange,
            keepingOld: true
        ).counts
        for number in Thoroughness.places(1...max(1, counts[call] ?? 0)) {
            let point: Comment = "\(call) \(number)"
            try places.removeDestination()
            let old = try places.makeOldDestination()
            let run = try places.runImport(
                injector: FaultInjector(.error(EIO), at: call, number...number),
                withoutExchange: withoutExchange,
                keepingOld: true
            )
            let isCutOff = try places.bookkeepingNames().contains("import-journal.json")
            let outcome = try await places.expectOldOrNew(old, new, at: point, keepingOld: true)
            #expect((run.end == .exited(0)) == (outcome == .success) || isCutOff, point)
        }
    }
}
