import Foundation
import MigrationArchive
import TestSupport
import Testing

@testable import MigrationContainers
@testable import MigrationCore

/// Imports into `.xcappdata` bundles: the files beside `AppData`, and the exchange.
@Suite(.scratchDirectory)
struct BundleTests {
    private static let own: [BytePath] = [".migration", "AppData", "AppDataInfo.plist"]

    private func makePlaces() async throws -> Places {
        try await Places.withSmallArchive(bundle: "destination.xcappdata")
    }

    @Test func `a new bundle holds the container, its bookkeeping and a property list`()
        async throws
    {
        let places = try await makePlaces()
        let new = try TreeSnapshot(of: places.source)
        try await places.importArchive()
        #expect(try places.contents(of: places.destination).differences(from: new) == [])
        #expect(try places.destination.names() == Self.own)
        #expect(!(places.destination / "AppData/.migration").exists)
        let container = try places.destinationContainer
        #expect(container.knownIdentifier == "source")
        // The platform is that of the archive, whatever the form.
        #expect(container.platform == .linux)
        #expect(try container.importRecord()?.outcome == .success)
        #expect(
            try places.root.names() == ["app.migration", "destination.xcappdata", "source"]
        )
    }

    @Test func `a bundle is of iOS where no archive says otherwise`() async throws {
        let places = try await makePlaces()
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/env")
        tar.arguments = [
            "tar", "-C", places.source.url.path, "-cf", places.root.url.path + "/tar", ".",
        ]
        try tar.run()
        tar.waitUntilExit()
        try await places.importArchive(from: places.root / "tar")
        #expect(try places.destinationContainer.platform == .iOS)
    }

    @Test(arguments: [false, true])
    func `an import replaces the data and nothing else`(_ hasOtherFile: Bool) async throws {
        let places = try await makePlaces()
        let old = try places.makeOldDestination()
        if hasOtherFile { try (places.destination / "notes").write("mine") }
        try (places.destination / "AppData").setMode(0o750)
        let new = try TreeSnapshot(of: places.source)
        let info = try (places.destination / "AppDataInfo.plist").contents()
        var options = ImportOptions()
        options.keptPath = places.kept
        let report = try await places.importArchive(replacing: true, options: options)
        #expect(report.leftovers.isEmpty)
        #expect(try (places.destination / "AppDataInfo.plist").contents() == info)
        let names = try places.destination.names()
        #expect(names == Self.own + (hasOtherFile ? ["notes"] : []))
        let mode = try FileDescriptor.status(atPath: places.destination / "AppData").permissions
        #expect(mode == 0o750)
        let restored = try TreeSnapshot(of: places.destination / "AppData")
        #expect(restored.differences(from: new).filter { $0.path != "." && $0.path != "" } == [])
        // The replaced data is a bundle too.
        #expect(try places.contents(of: places.kept).differences(from: old).count <= 1)
        #expect(try (places.kept / "AppDataInfo.plist").contents() == info)
        #expect(try MigrationDataContainer(atPath: places.kept).place.isBundle)
        #expect(
            try places.root.names() == [
                "app.migration", "destination.xcappdata", "kept", "source",
            ]
        )
        let way = try MigrationHost().recover(places.destinationContainer)
        #expect(way.replacedPath == places.kept.bytes)
        #expect(way.isRenamable)
    }

    @Test func `the path of its AppData leads to the same lock and status`() async throws {
        let places = try await makePlaces()
        try await places.importArchive()
        let inside = try MigrationDataContainer(atPath: places.destination / "AppData")
        #expect(inside.place == (try places.destinationContainer.place))
        let record = try places.destinationContainer.importRecord()
        #expect(try inside.importRecord() == record && record != nil)
        let lock = try ContainerLock(inside.place, for: .app)
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(error?.code == .containerBusy)
        lock.release()
        try inside.clearImportRecord()
        #expect(try places.destinationContainer.importRecord() == nil)
        // A directory with another name is a bundle because of its property list.
        try places.destination.rename(to: places.root / "renamed")
        let renamed = try MigrationDataContainer(atPath: places.root / "renamed/AppData")
        #expect(renamed.place.path == places.root / "renamed" && renamed.place.isBundle)
    }

    @Test func `bookkeeping in AppData is refused until it lies beside it`() async throws {
        let places = try await makePlaces()
        try await places.importArchive()
        let record = try places.destinationContainer.importRecord()
        let (beside, inside): (BytePath, BytePath) = (".migration", "AppData/.migration")
        try (places.destination / beside).rename(to: places.destination / inside)
        let error = #expect(throws: MigrationError.self) { try places.destinationContainer }
        #expect(error?.code == .containerInvalid)
        #expect(error?.message.contains("move it beside 'AppData'") == true)
        try (places.destination / inside).rename(to: places.destination / beside)
        #expect(try places.destinationContainer.importRecord() == record)
    }

    @Test func `a failure is recorded beside the data, which stays`() async throws {
        let places = try await makePlaces()
        let old = try places.makeOldDestination()
        let archive = try places.archive.contents()
        try places.archive.write(archive.prefix(archive.count - 300))
        await #expect(throws: ArchiveError.self) {
            try await places.importArchive(replacing: true)
        }
        #expect(try places.contents(of: places.destination).differences(from: old) == [])
        #expect(try places.destination.names() == Self.own)
        #expect(try places.bookkeepingNames() == ["import-attempt.json"])
    }

    @Test func `a failure leaves no new bundle, and no AppData in one without`() async throws {
        let places = try await makePlaces()
        let archive = try places.archive.contents()
        try places.archive.write(archive.prefix(archive.count - 300))
        await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        #expect(try places.root.names() == ["app.migration", "source"])
        try places.destination.makeDirectory()
        let inside = try MigrationDataContainer(atPath: places.destination / "AppData")
        await #expect(throws: ArchiveError.self) {
            try await MigrationHost().import(.file(path: places.archive), into: inside)
        }
        #expect(try places.destination.names() == [])
        try places.archive.write(archive)
        _ = try await MigrationHost().import(.file(path: places.archive), into: inside)
        #expect(try places.destination.names() == [".migration", "AppData"])
    }

    @Test func `a bundle without a property list is kept only as one by its name`() async throws {
        let places = try await makePlaces()
        try places.makeOldDestination()
        try (places.destination / "AppDataInfo.plist").removeFile()
        var options = ImportOptions()
        options.keptPath = places.kept
        let refused = options
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true, options: refused)
        }
        #expect(error?.code == .invalidOption)
        options.keptPath = places.root / "old.xcappdata"
        try await places.importArchive(replacing: true, options: options)
        #expect(try (places.root / "old.xcappdata/AppData/Documents/old").contents().count == 3)
    }
}
