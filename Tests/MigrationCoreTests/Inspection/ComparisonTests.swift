import Foundation
import MigrationArchive
import MigrationSystem
import Synchronization
import TestSupport
import Testing

@testable import MigrationCore

@Suite(.scratchDirectory)
struct ComparisonTests {
    private func rows(_ places: Places) async throws -> [String] {
        let found = Mutex<[String]>([])
        let count = try await ArchiveSource.file(path: places.archive)
            .compare(with: places.destinationContainer) { difference in
                found.withLock { $0.append("\(difference.path) \(difference.kind.rawValue)") }
            }
        let rows = found.withLock { $0 }
        #expect(rows.count == count)
        return rows
    }

    @Test func `finds nothing after an import`() async throws {
        let places = try await Places.withVariedArchive()
        try await places.importArchive()
        #expect(try await rows(places) == [])
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rows: [String]
        let apply: @Sendable (BytePath) throws -> Void

        init(_ rows: String..., apply: @escaping @Sendable (BytePath) throws -> Void) {
            self.rows = rows
            self.apply = apply
            testDescription = rows.joined(separator: ", ")
        }
    }

    /// Changes a path but keeps its own time and that of its directory.
    private static func keepingTimes(_ paths: [BytePath], _ body: () throws -> Void) throws {
        try body()
        for path in paths where path.exists { try path.setModificationTime(1_000, 1) }
    }

    private static let changes = [
        Change("d/file content") { try ($0 / "d/file").write("CONTENT") },
        Change("d/file content") { try ($0 / "d/file").append("more") },
        Change("d/file content") { try ($0 / "d/file").truncate(to: 3) },
        Change("d/hole content") {
            var content = Data(count: 100_000)
            content[70_000] = 1
            try ($0 / "d/hole").write(content)
        },
        Change("d/file permissions") { try ($0 / "d/file").setMode(0o600) },
        Change("d permissions") { try ($0 / "d").setMode(0o700) },
        Change("d/file onlyInArchive") { try ($0 / "d/file").removeFile() },
        Change("d/new onlyInContainer") { try ($0 / "d/new").write("new") },
        Change("d/new onlyInContainer", "d/new/below onlyInContainer") {
            try ($0 / "d/new").makeDirectory()
            try ($0 / "d/new/below").write("new")
        },
        Change("d/file kind") {
            try ($0 / "d/file").removeFile()
            try ($0 / "d/file").makeSymbolicLink(to: "hole")
        },
        Change("d/link linkTarget") {
            try ($0 / "d/link").removeFile()
            try ($0 / "d/link").makeSymbolicLink(to: "other")
        },
        Change("d/twin hardLink") {
            try ($0 / "d/twin").removeFile()
            try ($0 / "d/twin").write("first")
        },
        Change("d/first onlyInArchive", "d/twin hardLink") { try ($0 / "d/first").removeFile() },
        Change("d/hole hardLink", "d/hole content") {
            try ($0 / "d/hole").removeFile()
            try ($0 / "d/hole").makeHardLink(to: $0 / "d/first")
        },
        Change("d/file extendedAttributes") { try ($0 / "d/file").setAttribute("user.a", [9]) },
        Change("d/file extendedAttributes") { try ($0 / "d/file").setAttribute("user.b", []) },
    ]

    @Test(arguments: changes)
    func `finds each kind of difference once`(_ change: Change) async throws {
        let places = try Places()
        let directory = places.source / "d"
        try directory.makeDirectory()
        try (directory / "file").write("content")
        let hasAttributes = try (directory / "file").setAttribute("user.a", [1])
        if change.rows.contains("d/file extendedAttributes"), !hasAttributes { return }
        try (directory / "hole").write(Data(count: 100_000))
        try (directory / "link").makeSymbolicLink(to: "file")
        try (directory / "first").write("first")
        try (directory / "twin").makeHardLink(to: directory / "first")
        let names: [BytePath] = ["d/file", "d/hole", "d/link", "d/first", "d/twin", "d/new", "d"]
        try Self.keepingTimes(names.map { places.source / $0 }) {}
        try await places.exportSource()
        try await places.importArchive()
        #expect(try await rows(places) == [])
        try Self.keepingTimes(names.map { places.destination / $0 }) {
            try change.apply(places.destination)
        }
        #expect(try await rows(places).sorted() == change.rows.sorted())
    }

    @Test(arguments: [6, 8])
    func `finds times that differ by a nanosecond`(_ nanoseconds: Int) async throws {
        let places = try Places()
        try (places.source / "file").write("content")
        try (places.source / "file").setModificationTime(-5, 7)
        try await places.exportSource()
        try await places.importArchive()
        try (places.destination / "file").setModificationTime(-5, nanoseconds)
        #expect(try await rows(places) == ["file modificationTime"])
    }

    @Test func `takes a path that comes twice for one file`() async throws {
        let places = try Places()
        let blocks: [RawTar.Entry] = [.file("a", "s"), .file("a", "s"), .hardLink("h", "a")]
        try places.archive.write(RawTar.archive(of: blocks))
        try await places.importArchive()
        #expect(try await rows(places) == [])
    }

    @Test func `finds what is below a directory that became a file`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        try (places.destination / "Documents").rename(to: places.root / "aside")
        try (places.destination / "Documents").write("a file")
        #expect(
            try await rows(places) == [
                "Documents/new onlyInArchive", "Documents/same onlyInArchive", "Documents kind",
            ]
        )
    }

    @Test func `passes over what an export leaves out`() async throws {
        let places = try await Places.withSmallArchive()
        try await places.importArchive()
        for path: BytePath in ["tmp", "SystemData", "Library", "Library/Caches"] {
            try (places.destination / path).makeDirectory()
            try (places.destination / path / "x").write("x")
        }
        #expect(
            try await rows(places) == ["Library onlyInContainer", "Library/x onlyInContainer"]
        )
    }

    private func rows(
        _ places: Places,
        only paths: [String],
        from source: ArchiveSource? = nil
    ) async throws -> [String] {
        try await places.differences(at: paths, of: source).map { "\($0.path) \($0.kind.rawValue)" }
    }

    @Test func `compares in a stream only the entry whose printed name is given`() async throws {
        let places = try Places()
        for name in ["a\nb", "other"] { try (places.source / BytePath(name)).write("old") }
        try await places.exportSource()
        try await places.importArchive()
        for name in ["a\nb", "other"] { try (places.destination / BytePath(name)).write("new") }
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: places.archive.contents())
        try pipe.fileHandleForWriting.close()
        let stream = ArchiveSource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        let rows = try await rows(places, only: [#"a\nb"#], from: stream)
        #expect(rows.filter { $0.hasSuffix("content") } == [#"a\nb content"#])
        #expect(!rows.contains { $0.hasPrefix("other") })
    }

    private func write(
        _ entries: [ArchiveEntry],
        inOneWindow: Bool,
        to archive: BytePath
    ) throws {
        let operation = MigrationOperation(threadCount: 2)
        let file = try FileDescriptor.open(archive, .creating(permissions: 0o600))
        let output = try ArchiveOutput(writing: file, on: operation)
        let header = ArchiveHeader.sample()
        let writer = try ArchiveWriter(writingTo: output, header: header, level: 3, on: operation)
        if inOneWindow {
            let items = entries.map { WindowItem(entry: $0, source: nil) }
            let reader = AttributeReader(holding: [], isStrict: false)
            try writer.append(ItemWindow(items, reader, knowsAttributes: true))
        } else {
            for entry in entries.reversed() { try writer.append(entry) }
        }
        _ = try writer.finish()
    }

    /// Entries with more than 64 MiB of attributes or of targets.
    private func largeEntries(_ count: Int, areLinks: Bool) -> [ArchiveEntry] {
        let name = String(repeating: "a", count: 254)
        let target = EntryPath(String(repeating: name + "/", count: 250) + name)
        let value = [UInt8](repeating: 0, count: 1 << 19)
        let attribute = ExtendedAttribute(name: [UInt8]("user.a".utf8), value: value)
        return (0..<count).map { index in
            ArchiveEntry(
                path: EntryPath("file-\(1000 + index)"),
                kind: areLinks ? .hardLink(target: target) : .file(size: 0),
                permissions: 0o644,
                modificationTime: FileTime(seconds: 0, nanoseconds: 0),
                extendedAttributes: areLinks ? [] : [attribute]
            )
        }
    }

    /// Entries of one window are compared in order, others in memory.
    @Test(arguments: [true, false])
    func `refuses two archives whose entries take too much memory`(
        _ inOneWindow: Bool
    ) async throws {
        let places = try Places()
        let archives = [places.archive, places.root / "other"]
        let entries = largeEntries(inOneWindow ? 140 : 1100, areLinks: !inOneWindow)
        try write(entries, inOneWindow: inOneWindow, to: archives[0])
        try write([entries[0]], inOneWindow: inOneWindow, to: archives[1])
        let error = await #expect(throws: ArchiveError.self) {
            try await MigrationHost().compare(
                .archive(.file(path: archives[0])),
                with: .archive(.file(path: archives[1])),
                only: EntrySelection(),
                includesCaches: false,
                progress: nil
            ) { _ in }
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("compare the directory") ?? false)
    }

    @Test func `reads only the pieces around what is compared`() async throws {
        let places = try Places()
        let noise = VariedTree.noise(6 << 20)
        for name in ["a", "b", "c", "d"] {
            let directory = places.source / BytePath(name)
            try directory.makeDirectory()
            try (directory / "large").write(noise)
            try (directory / "small").write("small")
        }
        try await places.exportSource()
        try await places.importArchive()
        try (places.destination / "c/small").write("other")
        try (places.destination / "d/new").write("new")
        // The third of six pieces holds only the content of `b/large`.
        var damaged = try places.archive.contents()
        damaged[damaged.count * 10 / 24] ^= 1
        try places.archive.write(damaged)
        let rowsOfSmall = ["c/small modificationTime", "c/small content", "c modificationTime"]
        #expect(try await Set(rows(places, only: ["c"])).isSubset(of: rowsOfSmall))
        #expect(try await rows(places, only: ["c/small"]).contains("c/small content"))
        #expect(try await rows(places, only: ["d/new", "a"]) == ["d/new onlyInContainer"])
        #expect(try await rows(places, only: ["b"]) == [])
        var changed = noise
        changed[4 << 20] ^= 1
        try (places.destination / "b/large").write(changed)
        await #expect(throws: ArchiveError.self) { try await rows(places, only: ["b"]) }
        await #expect(throws: ArchiveError.self) { try await rows(places) }
        let error = await #expect(throws: ArchiveError.self) {
            try await rows(places, only: ["c/none"])
        }
        #expect(error?.code == .notFound)
    }
}
