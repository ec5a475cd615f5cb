import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct ExtractionTests {
    private func extract(
        _ places: Places,
        only paths: [String] = [],
        options: ImportOptions = ImportOptions()
    ) async throws -> ImportReport {
        try await ArchiveSource.file(path: places.archive.bytes).extract(
            to: places.destination.url,
            only: paths.map { EntryPath($0) },
            options: options
        )
    }

    @Test func `restores everything, with nothing of a container's`() async throws {
        let places = try await Places.withVariedArchive()
        _ = try await extract(places)
        let expected = try TreeSnapshot(of: places.source)
        let restored = try TreeSnapshot(of: places.destination)
        #expect(restored.differences(from: expected) == [])
    }

    @Test(
        arguments: [
            (["top"], ["top"]),
            (["Documents/new"], ["Documents", "Documents/new"]),
            (["Documents"], ["Documents", "Documents/new", "Documents/same"]),
            (["Documents", "Documents/new"], ["Documents", "Documents/new", "Documents/same"]),
            (["Documents/new", "top", "top"], ["Documents", "Documents/new", "top"]),
        ] as [([String], [BytePath])]
    )
    func `restores what is selected with all below it`(
        _ selection: [String],
        _ expected: [BytePath]
    ) async throws {
        let places = try await Places.withSmallArchive()
        _ = try await extract(places, only: selection)
        let restored = try TreeSnapshot(of: places.destination).nodes
        #expect(restored.keys.sorted() == expected)
        let all = try TreeSnapshot(of: places.source).nodes
        for path in selection.map({ BytePath([UInt8]($0.utf8)) }) {
            #expect(restored[path] == all[path])
        }
    }

    @Test(arguments: ["missing", "Documents/missing", "Doc", "top/below", "../top", "/top", ""])
    func `fails for a path that is not there, and makes nothing`(_ path: String) async throws {
        let places = try await Places.withSmallArchive()
        let error = await #expect(throws: ArchiveError.self) {
            try await extract(places, only: ["top", path])
        }
        #expect(error?.code == .notFound)
        #expect(!places.destination.exists)
    }

    @Test func `replaces nothing, and takes back what it restored`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        try (places.destination / "top").write("mine")
        try (places.destination / "other").write("mine")
        let before = try TreeSnapshot(of: places.destination)
        let error = await #expect(throws: MigrationError.self) { try await extract(places) }
        #expect(error?.code == .outputExists)
        #expect(error?.path?.hasSuffix("/top") == true)
        #expect(try TreeSnapshot(of: places.destination).differences(from: before) == [])
    }

    @Test func `leaves nothing of a damaged archive`() async throws {
        let places = try await Places.withLongArchive()
        var damaged = try places.archive.contents()
        damaged[damaged.count / 2] ^= 1
        try places.archive.write(damaged)
        await #expect(throws: ArchiveError.self) { try await extract(places) }
        #expect(!places.destination.exists)
        try places.destination.makeDirectory()
        await #expect(throws: ArchiveError.self) { try await extract(places) }
        #expect(try places.destination.names() == [])
    }

    @Test func `removes what a dead extraction left`() async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        try (places.destination / ".migration-extracting").makeDirectory()
        try (places.destination / ".migration-extracting/left").write("left")
        _ = try await extract(places)
        #expect(try places.destination.names() == ["Documents", "top"])
    }

    @Test func `extracts a file's second name alone`() async throws {
        let places = try Places()
        try (places.source / "a").write("content")
        try (places.source / "b").makeHardLink(to: places.source / "a")
        try await places.exportSource()
        _ = try await extract(places, only: ["b"])
        #expect(try (places.destination / "b").contents() == Data("content".utf8))
        #expect(try places.destination.names() == ["b"])
    }

    @Test func `extracts each entry as extracting everything does`() async throws {
        let places = try await Places.withVariedArchive()
        let all = try TreeSnapshot(of: places.source).nodes
        for (number, path) in all.keys.sorted().enumerated() {
            let target = places.root / BytePath([UInt8]("\(number)".utf8))
            _ = try await ArchiveSource.file(path: places.archive.bytes)
                .extract(to: target.url, only: [EntryPath(bytes: path.bytes)])
            let restored = try TreeSnapshot(of: target).nodes
            let below = path.bytes + [UInt8(ascii: "/")]
            for (other, node) in all where other == path || other.bytes.starts(with: below) {
                let found = try #require(restored[other], "\(other) of \(path)")
                #expect(found.type == node.type && found.mode == node.mode)
                #expect(found.seconds == node.seconds && found.nanoseconds == node.nanoseconds)
                #expect(found.content == node.content && found.target == node.target)
                #expect(found.attributes == node.attributes)
            }
            let isAlone = !restored.keys.contains { other in
                !other.bytes.starts(with: below) && !path.bytes.starts(with: other.bytes)
            }
            #expect(isAlone, "\(path): \(restored.keys)")
        }
    }

    @Test func `extracts further names of a file that lies frames before them`() async throws {
        let places = try Places()
        try (places.source / "a").write(Data(count: 9 << 20) + Data("end".utf8))
        try (places.source / "b").write(VariedTree.noise(5 << 20))
        try (places.source / "z").makeDirectory()
        for name: BytePath in ["z/one", "z/two"] {
            try (places.source / name).makeHardLink(to: places.source / "a")
        }
        try await places.exportSource()
        _ = try await extract(places, only: ["z"])
        let restored = try TreeSnapshot(of: places.destination).nodes
        #expect(restored.keys.sorted() == ["z", "z/one", "z/two"])
        #expect(restored["z/one"]?.content == Data(count: 9 << 20) + Data("end".utf8))
        #expect(restored["z/two"]?.firstName == "z/one")
    }
}
