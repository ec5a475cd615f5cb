import Glibc
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct OmissionTests {
    private func makeSource() throws -> Places {
        let places = try Places()
        for path: BytePath in [
            "Documents", "Library", "Library/Caches", "Library/Caches/deep", "tmp", "SystemData",
            ".migration", "Documents/tmp",
        ] {
            try (places.source / path).makeDirectory()
        }
        let files: [(BytePath, String)] = [
            ("Documents/kept", "kept"), ("Documents/scratch.tmp", "1"),
            ("Documents/tmp/kept", "a tmp elsewhere"), ("Library/Caches/deep/cache", "1234567"),
            ("Library/Caches/cache", "12"), ("tmp/file", "123"), ("SystemData/file", "12345"),
            (".migration/import-status.json", "{}"), ("Library/scratch.tmp", "1234"),
        ]
        for (path, content) in files { try (places.source / path).write(content) }
        return places
    }

    private func rows(_ list: OmissionList) -> [String] {
        list.items.map { "\($0.path) \($0.reason.rawValue) \($0.bytes)" }
    }

    @Test func `reports what is left out by default, with its bytes`() async throws {
        let places = try makeSource()
        let report = try await places.exportSource()
        #expect(
            rows(report.omissions) == [
                ".migration leftOutByDefault 2",
                "Library/Caches leftOutByDefault 9",
                "SystemData leftOutByDefault 5",
                "tmp leftOutByDefault 3",
            ]
        )
        #expect(report.omissions.count == 4)
        #expect(report.omissions.bytes == 19)
        try await places.importArchive()
        let restored = try places.contents(of: places.destination).nodes.keys.sorted()
        #expect(
            restored == [
                "Documents", "Documents/kept", "Documents/scratch.tmp", "Documents/tmp",
                "Documents/tmp/kept", "Library", "Library/scratch.tmp",
            ]
        )
    }

    @Test func `archives caches where that was asked for`() async throws {
        let places = try makeSource()
        var options = ExportOptions()
        options.includesCaches = true
        let report = try await places.exportSource(options: options)
        #expect(!rows(report.omissions).contains { $0.hasPrefix("Library") })
        try await places.importArchive()
        let cache = places.destination / "Library/Caches/deep/cache"
        #expect(try cache.contents().count == 7)
    }

    @Test func `reports what patterns leave out, with its bytes`() async throws {
        let places = try makeSource()
        var options = ExportOptions()
        options.exclusions = try ["*.tmp", "Documents/tmp/"].map { try PathPattern($0) }
        let report = try await places.exportSource(options: options)
        #expect(
            rows(report.omissions).filter { $0.contains("excluded") } == [
                "Documents/scratch.tmp excluded 1",
                "Documents/tmp excluded 15",
                "Library/scratch.tmp excluded 4",
            ]
        )
        #expect(report.header.sizeEstimate == 4)
        #expect(report.totals.contentBytes == 4)
    }

    @Test func `archives a file under the name that is not left out`() async throws {
        let places = try Places()
        try (places.source / "a.tmp").write("content")
        try (places.source / "b").makeHardLink(to: places.source / "a.tmp")
        var options = ExportOptions()
        options.exclusions = [try PathPattern("*.tmp")]
        let report = try await places.exportSource(options: options)
        #expect(report.totals.files == 1)
        #expect(report.totals.hardLinks == 0)
        try await places.importArchive()
        #expect(try (places.destination / "b").contents().count == 7)
    }

    @Test func `reports special files`() async throws {
        let places = try Places()
        try (places.source / "fifo").makeFIFO()
        try (places.source / "socket").makeSocket()
        let report = try await places.exportSource()
        #expect(rows(report.omissions) == ["fifo specialFile 0", "socket specialFile 0"])
        #expect(report.omissions.items.map(\.detail) == ["fifo", "socket"])
        #expect(report.totals.entries == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "only root may set attributes outside user.*"))
    func `reports extended attributes that an archive does not hold`() async throws {
        let places = try Places()
        try (places.source / "file").write("content")
        try (places.source / "file").setAttribute("trusted.secret", [1])
        try (places.source / "file").setAttribute("user.kept", [2])
        let report = try await places.exportSource()
        #expect(rows(report.omissions) == ["file extendedAttribute 0"])
        #expect(report.omissions.items.map(\.detail) == ["trusted.secret"])
        try await places.importArchive()
        let restored = try places.contents(of: places.destination).nodes["file"]
        #expect(restored?.attributes == ["user.kept": [2]])
    }

    @Test(.enabled(if: geteuid() == 0, "only root may set attributes outside user.*"))
    func `reports attributes of symbolic links`() async throws {
        let places = try Places()
        try (places.source / "link").makeSymbolicLink(to: "nowhere")
        try (places.source / "link").setAttribute("trusted.secret", [1])
        let report = try await places.exportSource()
        #expect(rows(report.omissions) == ["link extendedAttribute 0"])
        #expect(report.omissions.items.map(\.detail) == ["trusted.secret"])
    }

    @Test func `lists a thousand links that lead out and counts the others`() async throws {
        let places = try Places()
        for index in 0..<1_005 {
            let link = places.source / BytePath([UInt8]("\(index)".utf8))
            try link.makeSymbolicLink(to: "../out")
        }
        let report = try await places.exportSource()
        #expect(report.externalLinks.count == 1_000)
        #expect(report.externalLinkCount == 1_005)
    }

    @Test func `reports permission bits that an import does not restore`() async throws {
        let places = try Places()
        try (places.source / "program").write("content")
        try (places.source / "program").setMode(0o4755)
        try await places.exportSource()
        let report = try await places.importArchive()
        #expect(rows(report.omissions) == ["program specialPermissions 0"])
        #expect(report.omissions.items.map(\.detail) == ["4000"])
        let mode = try places.contents(of: places.destination).nodes["program"]?.mode
        #expect(mode == 0o755)
    }

    @Test func `lists a thousand omissions and counts the others`() async throws {
        let places = try Places()
        for index in 0..<1_005 {
            try (places.source / BytePath([UInt8]("\(index).tmp".utf8))).write("12")
        }
        var options = ExportOptions()
        options.exclusions = [try PathPattern("*.tmp")]
        let report = try await places.exportSource(options: options)
        #expect(report.omissions.items.count == 1_000)
        #expect(report.omissions.count == 1_005)
        #expect(report.omissions.bytes == 2_010)
    }
}
