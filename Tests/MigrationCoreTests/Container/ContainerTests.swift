import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ContainerTests {
    private static let metadata: BytePath = ".com.apple.mobile_container_manager.metadata.plist"

    private func propertyList(_ values: [String: String]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
    }

    private func makeBundle() throws -> BytePath {
        let bundle = try BytePath.scratch / "app.xcappdata"
        try bundle.makeDirectory()
        try (bundle / "AppData").makeDirectory()
        try (bundle / "AppData/Documents").makeDirectory()
        try (bundle / "AppData/Documents/note").write("note")
        let list = try propertyList(["CFBundleIdentifier": "com.example.bundle"])
        try (bundle / "AppDataInfo.plist").write(list)
        return bundle
    }

    @Test func `is found again by the URLs of names that are not UTF-8`() async throws {
        let root = try BytePath.scratch / [0x63, 0xFF]
        try root.makeDirectory()
        try (root / "Documents").makeDirectory()
        try (root / "Documents" / [0x66, 0xFE]).write("file")
        let container = try MigrationDataContainer(atPath: root, bundleIdentifier: "com.example.a")
        let found = try MigrationDataContainer(at: container.containerRootDirectory)
        #expect(found.rootPath == root)
        #expect(BytePath(of: container.documentsDirectory) == root / "Documents")
        let archive = URL(fileAtPath: root.parent / [0x61, 0xFD])
        _ = try await MigrationHost().export(found, to: .file(archive))
        let target = root.parent / [0x74, 0xFC]
        _ = try await MigrationHost().import(
            .file(archive),
            into: MigrationDataContainer(at: URL(containerAtPath: target))
        )
        #expect(try (target / "Documents" / [0x66, 0xFE]).contents() == Data("file".utf8))
        let place = URL(directoryAtPath: root.parent / [0x70, 0x20, 0xFB])
        _ = try await ArchiveSource.file(archive).extract(to: place)
        let names: Set<BytePath> = [
            BytePath(root.lastComponent), BytePath([0x61, 0xFD]), BytePath([0x74, 0xFC]),
            BytePath([0x70, 0x20, 0xFB]),
        ]
        #expect(Set(try root.parent.names()) == names)
    }

    @Test func `finds the container in a bundle of Xcode's`() async throws {
        let bundle = try makeBundle()
        let container = try MigrationDataContainer(atPath: bundle)
        #expect(container.bundleIdentifier == "com.example.bundle")
        #expect(container.rootPath == bundle / "AppData")
        let archive = try BytePath.scratch / "archive"
        let report = try await MigrationHost().export(
            container,
            to: .file(path: archive, replacesExisting: false)
        )
        #expect(report.header.bundleIdentifier == "com.example.bundle")
        #expect(report.header.platform == "iOS")
        #expect(report.totals.files == 1)
        #expect(try bundle.names() == ["AppData", "AppDataInfo.plist"])
    }

    @Test func `imports into a bundle of Xcode's`() async throws {
        let bundle = try makeBundle()
        let info = try (bundle / "AppDataInfo.plist").contents()
        let places = try await Places.withSmallArchive()
        var options = ImportOptions()
        options.replacesExisting = true
        let error = await #expect(throws: MigrationError.self) {
            try await MigrationHost().import(
                .file(path: places.archive),
                into: MigrationDataContainer(atPath: bundle),
                options: options
            )
        }
        #expect(error?.code == .identifierMismatch)
        _ = try await MigrationHost().import(
            .file(path: places.archive),
            into: MigrationDataContainer(atPath: bundle, bundleIdentifier: "source"),
            options: options
        )
        #expect(try bundle.names() == [".migration", "AppData", "AppDataInfo.plist"])
        #expect(try (bundle / "AppDataInfo.plist").contents() == info)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: bundle / "AppData").differences(from: expected) == [])
    }

    @Test func `never exports the container's metadata, nor loses it in an import`() async throws {
        let places = try Places()
        try (places.source / "file").write("new")
        let list = try propertyList(["MCMMetadataIdentifier": "com.example.app"])
        try (places.source / Self.metadata).write(list)
        let report = try await places.exportSource()
        #expect(report.header.bundleIdentifier == "com.example.app")
        #expect(report.header.platform == "iOS")
        #expect(report.omissions.items.map(\.reason) == [.leftOutByDefault])
        #expect(report.omissions.bytes == UInt64(list.count))
        let other = try propertyList(["MCMMetadataIdentifier": "com.example.app", "own": "kept"])
        try places.destination.makeDirectory()
        try (places.destination / Self.metadata).write(other)
        try (places.destination / Self.metadata).setModificationTime(1_000_000, 5)
        let before = try TreeSnapshot(of: places.destination)
        try await places.importArchive()
        var after = try places.contents(of: places.destination)
        #expect(after.nodes[Self.metadata] == before.nodes[Self.metadata])
        // An app from iOS finds the directories that no archive holds.
        #expect(after.nodes.keys.sorted() == [Self.metadata, "SystemData", "file", "tmp"])
        try (places.destination / "file").write("old")
        try (places.destination / "older").write("old")
        #expect(try await places.importArchive(replacing: true).replacedData)
        var again = try places.contents(of: places.destination)
        for name in ["SystemData", "tmp"] as [BytePath] {
            #expect(again.nodes.removeValue(forKey: name) != nil)
            after.nodes.removeValue(forKey: name)
        }
        #expect(again.differences(from: after) == [])
    }

    @Test func `moves a container whose path is no UTF-8`() async throws {
        let places = try await Places.withSmallArchive()
        let odd = places.root / BytePath([0x6F, 0xFF, 0x0A, 0x80])
        let container = try MigrationDataContainer(atPath: odd)
        let archive = ArchiveSource.file(path: places.archive)
        _ = try await MigrationHost().import(archive, into: container)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: odd).differences(from: expected) == [])
        #expect(try container.importRecord()?.outcome == .success)
        #expect(try await archive.compare(with: container) { _ in } == 0)
        let again = places.root / BytePath([0x61, 0xFE])
        _ = try await MigrationHost().export(
            container,
            to: .file(path: again, replacesExisting: false)
        )
        #expect(again.exists)
    }

    @Test func `makes a container whose name is as long as names may be`() async throws {
        let places = try await Places.withSmallArchive()
        let long = places.root / BytePath([UInt8](repeating: UInt8(ascii: "n"), count: 255))
        let container = try MigrationDataContainer(atPath: long)
        let archive = ArchiveSource.file(path: places.archive)
        _ = try await MigrationHost().import(archive, into: container)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: long).differences(from: expected) == [])
        #expect(try places.root.names().count == 3)
    }

    @Test func `gives a container back that took the place of the locked one`() async throws {
        let places = try await Places.withSmallArchive()
        let old = try places.makeOldDestination()
        let aside = places.root / "aside"
        let mutator = Mutator {
            try places.destination.rename(to: aside)
            try places.destination.makeDirectory()
            try (places.destination / "mine").write("mine")
        }
        let error = await #expect(throws: MigrationError.self) {
            try await places.importArchive(replacing: true, progress: mutator)
        }
        #expect(mutator.hasRun)
        #expect(error?.code == .containerBusy)
        #expect(try (places.destination / "mine").contents() == Data("mine".utf8))
        #expect(try places.contents(of: aside).differences(from: old) == [])
    }
}
