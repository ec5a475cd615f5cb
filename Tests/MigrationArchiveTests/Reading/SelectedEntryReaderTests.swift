import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct SelectedEntryReaderTests {
    private static let longName = String(repeating: "n", count: 200)

    /// Entries as a walk leaves them, over many frames, with names on either side of the slash.
    private static let items: [Item] = {
        let deep = (1...6).map { [String](repeating: longName, count: $0).joined(separator: "/") }
        let items =
            [
                Item("A", text(10)), Item(.directory("a")), Item("a/1", text(4_200_000)),
                Item(.directory("a/b")), Item("a/b/x", text(5_000_000)), Item("a/b/y", text(1)),
                Item(.directory("a/b/z")), Item("a/b c", text(600)), Item("a/b.c", text(4_191_000)),
                Item("a/b0", text(512)), Item(.symbolicLink("a b", to: "a")), Item("a-b", text(70)),
                Item(.hardLink("a.b", to: "a/b/y")),
            ] + deep.map { Item(.directory($0)) } + [
                Item(deep[5] + "/x", text(4_200_000)), Item(deep[5] + "/y", text(4_200_000)),
                Item("z", text(20)), Item(.hardLink("zz", to: "a/b/x")),
            ]
        return items.sorted { $0.entry.path.isLeft(before: $1.entry.path) }
    }()

    private func selected(_ archive: TestArchive, _ paths: [EntryPath]) throws -> [Item] {
        let reader = try archive.reader(.selectiveFile)
        #expect(try reader.select(paths))
        return try reader.items()
    }

    /// The paths of the selected entries; their content is skipped.
    private func selectedPaths(_ archive: TestArchive, _ paths: [EntryPath]) throws -> [EntryPath] {
        let reader = try archive.reader(.selectiveFile)
        #expect(try reader.select(paths))
        var found: [EntryPath] = []
        while let entry = try reader.next() { found.append(entry.path) }
        return found
    }

    private func expected(_ paths: [EntryPath]) -> [Item] {
        Self.items.filter { item in
            paths.contains { item.entry.path.isEqual(toOrBelow: $0) }
        }
    }

    @Test func `gives each entry as reading everything does`() throws {
        let archive = try TestArchive(Self.items)
        #expect(try archive.index.frames.count == 6)
        #expect(try archive.items(.wholeFile) == Self.items)
        for item in Self.items {
            let path = item.entry.path
            #expect(try selected(archive, [path]) == expected([path]), "\(path)")
        }
    }

    @Test func `gives several entries once each, in the archive's order`() throws {
        let archive = try TestArchive(Self.items)
        let paths = Self.items.map(\.entry.path)
        for (number, first) in paths.enumerated() {
            let second = paths[number * 7 % paths.count]
            let selection = [second, first, second, EntryPath("missing")]
            #expect(try selectedPaths(archive, selection) == expected(selection).map(\.entry.path))
        }
        #expect(try selectedPaths(archive, paths.reversed()) == paths)
    }

    @Test func `finds nothing where nothing is`() throws {
        let archive = try TestArchive(Self.items)
        for path in ["0", "A/x", "a/0", "a/1/x", "a/b/xx", "a!", "b", "z/z", "zzz", "\u{FFFF}"] {
            #expect(try selectedPaths(archive, [EntryPath(path)]) == [])
        }
        #expect(try selected(TestArchive([]), [EntryPath("a")]) == [])
    }

    @Test func `can begin again with other paths`() throws {
        let reader = try TestArchive(Self.items).reader(.selectiveFile)
        for path in ["zz", "a/b", "A", "a/b", "missing", "z"].map({ EntryPath($0) }) {
            #expect(try reader.select([path]))
            #expect(try reader.items() == expected([path]))
        }
    }

    /// Frames that are not needed may hold anything: they are not read.
    @Test func `reads only the frames around what is selected`() throws {
        let archive = try TestArchive(Self.items)
        let places = try archive.framePlaces
        for path in ["A", "a/b/y", "a/b c", "a/b0", "a-b", "z"].map({ EntryPath($0) }) {
            let reader = try archive.reader(.selectiveFile)
            #expect(try reader.select([path]))
            _ = try #require(try reader.next())
            let offset = Int(reader.entryOffset) - (try HeaderFrame.sample.contentSize)
            let frame = offset / FrameFormat.chunkSize
            // The entry right before may be in the previous frame, and reach over another one.
            let frames = frame - 2...frame + 1
            var damaged = archive.bytes
            for (number, place) in places.enumerated() where !frames.contains(number) {
                damaged[place.lowerBound + place.count / 2] ^= 1
            }
            #expect(try selected(TestArchive(bytes: damaged), [path]) == expected([path]))
        }
    }

    @Test func `checks every frame that it reads`() throws {
        let archive = try TestArchive(Self.items)
        var bytes = archive.bytes
        bytes[try archive.framePlaces[1].lowerBound + 50] ^= 1
        let error = #expect(throws: ArchiveError.self) {
            try selected(TestArchive(bytes: bytes), [EntryPath("a/b/x")])
        }
        #expect(error?.code == .damaged)
    }

    @Test func `leaves alone what can only be read in order`() throws {
        let unordered = try TestArchive(Self.items.reversed().filter { !$0.entry.isLink })
        #expect(try !unordered.reader(.selectiveFile).select([EntryPath("A")]))
        let archive = try TestArchive(Self.items)
        for route in [TestArchive.Route.pipe, .wholeFile] {
            let reader = try archive.reader(route)
            #expect(try !reader.select([EntryPath("A")]))
            #expect(try reader.items() == Self.items)
        }
    }

    @Test func `fails where the index leads to another entry`() throws {
        let items = [Item("a", text(5_000_000)), Item("b", text(10)), Item("c", text(10))]
        let archive = try TestArchive(items)
        for (path, offset) in [("b", 5_001_216), ("b", 4_194_304)] {
            var builder = EntryIndexBuilder()
            builder.add(EntryPath("a"), at: 0)
            builder.add(EntryPath(path), at: UInt64(offset))
            let lying = try archive.replacingEntryIndex(builder.encoded(frameCount: 2))
            let error = #expect(throws: ArchiveError.self, "\(path) at \(offset)") {
                try selected(lying, [EntryPath("c")])
            }
            #expect([.damaged, .refused].contains(error?.code))
        }
    }

    @Test func `fails where entries are in another order than the index says`() throws {
        let archive = try TestArchive([Item("b", []), Item("a", []), Item("c", [])])
        var entries = try archive.entryIndex
        entries[8] = 1
        let lying = try archive.replacingEntryIndex(entries)
        let error = #expect(throws: ArchiveError.self) { try selected(lying, [EntryPath("c")]) }
        #expect(error?.code == .damaged)
    }
}
