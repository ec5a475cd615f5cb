import Foundation
import Glibc
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
        try await ArchiveSource.file(path: places.archive).extract(
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
            _ = try await ArchiveSource.file(path: places.archive)
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
        #expect(restored["z/one"]?.content == Content(Data(count: 9 << 20) + Data("end".utf8)))
        #expect(restored["z/two"]?.firstName == "z/one")
    }
}

// MARK: - Other programs' archives

extension ExtractionTests {
    /// Entries, the selection, and its number of files and hard links.
    typealias Selection = (blocks: [RawTar.Entry], path: String, files: UInt64, hardLinks: UInt64)

    private static let selections: [Selection] = [
        (
            [.file("a", "hi"), .hardLink("s/x", "a"), .file("a", "new"), .hardLink("s/y", "a")],
            "s", 2, 0
        ),
        (
            [.file("a", "hi"), .hardLink("s/x", "a"), .file("s/x", "own"), .file("a", "new")],
            "s", 1, 0
        ),
        ([.file("a", "hi"), .file("s/x", "own"), .hardLink("s/x", "a")], "s", 1, 0),
        ([.file("a", "hi"), .hardLink("s/x", "a"), .hardLink("s/y", "a")], "s", 1, 1),
        ([.file("a", "hi"), .hardLink("h1", "a"), .hardLink("h2", "h1")], "h2", 1, 0),
        ([.file("deep/er/a", "hi"), .hardLink("s", "deep/er/a")], "s", 1, 0),
        ([.file("d/a", "hi"), .hardLink("d/s", "d/a"), .file("d/b", "b")], "d/s", 1, 0),
        ([.link("l", "f"), .file("f", "f"), .hardLink("s", "l")], "s", 0, 1),
        ([.file("a", "hi"), .hardLink("s", "a"), .directory("a"), .file("a/b", "b")], "s", 1, 0),
    ]

    @Test(arguments: selections.indices)
    func `extracts of another program's archive what extracting everything gives`(
        _ index: Int
    ) async throws {
        let (blocks, path, files, hardLinks) = Self.selections[index]
        let places = try Places()
        try places.archive.write(RawTar.archive(of: blocks))
        let source = ArchiveSource.file(path: places.archive)
        _ = try await source.extract(to: (places.root / "all").url)
        let report = try await extract(places, only: [path])
        let selected = BytePath([UInt8](path.utf8))
        let restored = try TreeSnapshot(of: places.destination).nodes
        let all = try TreeSnapshot(of: places.root / "all").nodes
        func isSelected(_ other: BytePath) -> Bool {
            EntryPath(bytes: other.bytes).isEqual(toOrBelow: EntryPath(path))
        }
        let expected = all.filter { isSelected($0.key) && $0.value.type != S_IFDIR }
        #expect(restored[selected] != nil)
        for (other, node) in restored where node.type != S_IFDIR {
            #expect(node.content == expected[other]?.content, "\(other)")
            #expect(node.target == expected[other]?.target, "\(other)")
        }
        #expect(restored.filter { $0.value.type != S_IFDIR }.count == expected.count)
        let parents = EntryPath(path).components.count - 1
        #expect(restored.keys.filter { !isSelected($0) }.count == parents)
        #expect(report.totals.files == files && report.totals.hardLinks == hardLinks)
    }
}

// MARK: - The directory

extension ExtractionTests {
    @Test(.injectingFaults, arguments: [ENOSPC, EDQUOT, EACCES, EIO])
    func `names what can't be moved in, and takes back the rest`(_ code: Int32) async throws {
        let places = try await Places.withSmallArchive()
        try places.destination.makeDirectory()
        for last in [2, Int(Int32.max)] {
            let run = try FaultInjector(.error(code), at: "renameat2", 2...last).run(
                ["extract", places.archive.url.path, "--to", places.destination.url.path],
                countingFrom: places.root.url.path
            )
            #expect(run.faults > 0)
            #expect(run.end == .exited(73), "\(run.errors)")
            let place = "can't be moved to its place: \(places.destination.url.path)"
            let isNamed = ["/top: ", "/Documents: "].contains { run.errors.contains(place + $0) }
            #expect(isNamed, "\(run.errors)")
            #expect(try places.destination.names() == [])
        }
    }

    @Test(.injectingFaults) func `leaves nothing where nothing can be locked`() async throws {
        let places = try await Places.withSmallArchive()
        let run = try FaultInjector(.error(ENOLCK), at: "flock", 1...Int(Int32.max)).run(
            ["extract", places.archive.url.path, "--to", places.destination.url.path],
            countingFrom: places.root.url.path
        )
        #expect(run.faults > 0)
        #expect(run.end == .exited(73), "\(run.errors)")
        #expect(!places.destination.exists)
    }

    @Test func `says that a directory is none but a link`() async throws {
        let places = try await Places.withSmallArchive()
        try (places.root / "real").makeDirectory()
        try places.destination.makeSymbolicLink(to: places.root / "real")
        let error = await #expect(throws: MigrationError.self) { try await extract(places) }
        #expect(error?.code == .outputFailed)
        #expect(error?.message == "it is a file or a link, not a directory")
    }

    @Test func `takes the root for the directory that it is`() async throws {
        let places = try Places()
        try (places.source / "usr").makeDirectory()
        try await places.exportSource()
        let error = await #expect(throws: MigrationError.self) {
            try await ArchiveSource.file(path: places.archive)
                .extract(to: URL(filePath: "/"))
        }
        // Only a user who may write there gets so far that something is in the way.
        #expect(error?.code == (geteuid() == 0 ? .outputExists : .outputFailed))
        #expect(error?.message != "the directory can't be used")
    }
}
