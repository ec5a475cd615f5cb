import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// The content of one file out of an archive.
@Suite(.scratchDirectory)
struct ArchivedContentTests {
    private func content(_ archive: BytePath, _ path: String) async throws -> String {
        let bytes = Monitor<[UInt8]>([])
        _ = try await ArchiveSource.file(path: archive).readFile(at: EntryPath(path)) { piece in
            bytes.withLock { bytes in
                for index in piece.indices { bytes.append(piece[index]) }
            }
        }
        return String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    }

    private func makeTar(_ places: Places, _ names: [String]) throws -> BytePath {
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/env")
        tar.currentDirectoryURL = places.source.url
        tar.arguments = ["tar", "-cf", places.root.url.path + "/tar"] + names
        try tar.run()
        tar.waitUntilExit()
        return places.root / "tar"
    }

    @Test func `is passed whole, by any name of the file`() async throws {
        let places = try Places()
        try (places.source / "a").write("content")
        try (places.source / "b").makeHardLink(to: places.source / "a")
        try await places.exportSource()
        for archive in [places.archive, try makeTar(places, ["a", "b"])] {
            #expect(try await content(archive, "a") == "content")
            #expect(try await content(archive, "b") == "content")
        }
    }

    @Test func `is that of the last entry in another program's tar file`() async throws {
        let places = try Places()
        try (places.source / "a").write("first")
        let tar = try makeTar(places, ["a"])
        try (places.source / "a").write("second")
        let append = Process()
        append.executableURL = URL(filePath: "/usr/bin/env")
        append.currentDirectoryURL = places.source.url
        append.arguments = ["tar", "-rf", tar.url.path, "a"]
        try append.run()
        append.waitUntilExit()
        #expect(try await content(tar, "a") == "second")
    }

    @Test(arguments: ["missing", "Documents/missing", "top/below", ""])
    func `is an error where there is none`(_ path: String) async throws {
        let places = try await Places.withSmallArchive()
        for archive in [places.archive, try makeTar(places, ["top", "Documents"])] {
            let error = await #expect(throws: ArchiveError.self) {
                try await content(archive, path)
            }
            #expect(error?.code == .notFound && error?.entry == EntryPath(path))
        }
    }
}
