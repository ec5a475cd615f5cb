import Foundation
import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct RoundTripTests {
    /// Contents that a container may have before an import without counting as data.
    enum Beginning: CaseIterable {
        case missing, empty, skeleton
    }

    @Test(arguments: Beginning.allCases)
    func `restores everything as it was`(_ beginning: Beginning) async throws {
        let places = try await Places.withVariedArchive()
        if beginning != .missing { try places.destination.makeDirectory() }
        if beginning == .skeleton {
            for path: BytePath in [
                "Documents", "Library", "Library/Application Support", "tmp",
            ] {
                try (places.destination / path).makeDirectory()
            }
        }
        let report = try await places.importArchive()
        let expected = try TreeSnapshot(of: places.source)
        #expect(expected.nodes.count > 40)
        let restored = try places.contents(of: places.destination)
        #expect(restored.differences(from: expected) == [])
        #expect(report.omissions.count == 0)
        #expect(!report.replacedData)
        #expect(try places.bookkeepingNames() == ["import-status.json"])
        let names = try places.root.names()
        #expect(names == ["app.migration", "destination", "source"])
    }

    /// Apps on iOS expect directories that no export carries.
    @Test(arguments: [MigrationPlatform.iOS, .linux], [true, false])
    func `gives data of iOS the directories that no export carries`(
        _ platform: MigrationPlatform,
        _ hasLibrary: Bool
    ) async throws {
        let places = try Places()
        try (places.source / "Documents").makeDirectory()
        if hasLibrary {
            for path: BytePath in ["Library", "Library/Caches", "tmp"] {
                try (places.source / path).makeDirectory()
            }
            try (places.source / "Library/Caches/page").write("page")
            try (places.source / "Library").setModificationTime(1_600_000_000, 5)
        }
        var options = ExportOptions()
        options.platform = platform
        try await places.exportSource(options: options)
        try await places.importArchive()
        let restored = try places.contents(of: places.destination)
        let made: Set<BytePath> = platform == .iOS ? ["SystemData", "tmp"] : []
        var expected = made.union(["Documents"])
        if hasLibrary { expected.insert("Library") }
        if hasLibrary, platform == .iOS { expected.insert("Library/Caches") }
        #expect(Set(restored.nodes.keys) == expected)
        let library = try TreeSnapshot(of: places.source).nodes["Library"]
        #expect(restored.nodes["Library"] == library)
    }

    @Test func `reports how much it moved`() async throws {
        let places = try Places()
        try VariedTree.make(in: places.source)
        let exported = try await places.exportSource()
        let imported = try await places.importArchive()
        let nodes = try TreeSnapshot(of: places.source).nodes
        let firsts = nodes.filter { $0.value.firstName == $0.key }
        #expect(exported.totals.entries == UInt64(nodes.count))
        #expect(exported.totals.hardLinks == 3)
        #expect(exported.totals.files == UInt64(firsts.values.count { $0.type == S_IFREG }))
        #expect(exported.totals.directories == UInt64(firsts.values.count { $0.type == S_IFDIR }))
        #expect(exported.totals.symbolicLinks == UInt64(firsts.values.count { $0.type == S_IFLNK }))
        let bytes = firsts.values.map(\.content.count).reduce(0, +)
        #expect(exported.totals.contentBytes == UInt64(bytes))
        #expect(imported.totals == exported.totals)
        #expect(imported.fingerprint == exported.fingerprint)
        #expect(imported.header == exported.header)
        #expect(exported.header.sizeEstimate == UInt64(bytes))
        #expect(exported.archiveBytes == UInt64(try places.archive.contents().count))
        #expect(exported.omissions.count == 0)
        #expect(exported.externalLinks == [])
    }

    @Test(arguments: [1, 2, 8])
    func `writes the same bytes with any number of threads`(_ count: Int) async throws {
        let places = try Places()
        try VariedTree.make(in: places.source)
        let large = try #require(ScratchDirectory.current).appending(path: "source/large")
        try VariedTree.noise(1 << 20).write(to: large)
        try BytePath([UInt8](large.path.utf8)).truncate(to: 14 << 20)
        try await places.exportSource(to: places.root / "reference")
        var options = ExportOptions()
        options.threadCount = count
        try await places.exportSource(options: options)
        let reference = try (places.root / "reference").contents()
        #expect(try places.archive.contents() == reference)
    }

    @Test func `writes the same bytes of a tree that was made in another order`() async throws {
        let places = try await Places.withVariedArchive()
        let copy = places.root / "copy"
        try copy.makeDirectory()
        try (copy / "source").makeDirectory()
        try VariedTree.make(in: copy / "source", isReversed: true)
        _ = try await MigrationHost().export(
            MigrationDataContainer(atPath: copy / "source"),
            to: .file(path: copy / "archive", replacesExisting: false)
        )
        #expect(try (copy / "archive").contents() == places.archive.contents())
    }

    @Test func `writes the same bytes of a container that was imported`() async throws {
        let places = try await Places.withVariedArchive()
        try await places.importArchive()
        let again = places.root / "again"
        _ = try await MigrationHost().export(
            MigrationDataContainer(atPath: places.destination),
            to: .file(path: again, replacesExisting: false)
        )
        #expect(try again.contents() == places.archive.contents())
    }

    @Test(arguments: [1, 3, 19])
    func `moves through a pipe, at any level`(_ level: Int) async throws {
        let places = try Places()
        try VariedTree.make(in: places.source)
        for (name, isNoise) in [("noise", true), ("text", false)] as [(BytePath, Bool)] {
            let piece = isNoise ? VariedTree.noise(300_000) : Data("some text\n".utf8)
            var content = piece
            while content.count < 5 << 20 { content += content.reversed() }
            try (places.source / name).write(content)
        }
        var options = ExportOptions()
        options.compressionLevel = level
        let exported = try await places.exportSource(options: options)
        let pipe = Pipe()
        let feeder = Process()
        feeder.executableURL = URL(filePath: "/bin/cat")
        feeder.arguments = [places.archive.url.path]
        feeder.standardOutput = pipe
        try feeder.run()
        let imported = try await MigrationHost().import(
            .descriptor(pipe.fileHandleForReading.fileDescriptor),
            into: places.destinationContainer
        )
        #expect(imported.fingerprint == exported.fingerprint)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
    }

    @Test func `keeps a link that leads out only where that was asked for`() async throws {
        let places = try Places()
        try (places.source / "out").makeSymbolicLink(to: "../elsewhere")
        try (places.source / "absolute").makeSymbolicLink(to: "/etc/hosts")
        let report = try await places.exportSource()
        #expect(
            report.externalLinks.map(\.description) == [
                "absolute -> /etc/hosts", "out -> ../elsewhere",
            ]
        )
        let error = await #expect(throws: ArchiveError.self) { try await places.importArchive() }
        #expect(error?.code == .externalLink)
        #expect(!places.destination.exists)
        var options = ImportOptions()
        options.externalLinks = .skip
        let skipped = try await places.importArchive(options: options)
        #expect(skipped.omissions.items.map(\.path) == ["absolute", "out"])
        #expect(skipped.omissions.items.allSatisfy { $0.reason == .externalLink })
        #expect(try places.contents(of: places.destination).nodes.isEmpty)
        options.externalLinks = .keep
        try await places.importArchive(options: options)
        let expected = try TreeSnapshot(of: places.source)
        #expect(try places.contents(of: places.destination).differences(from: expected) == [])
    }
}
