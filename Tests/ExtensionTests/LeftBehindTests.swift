import Foundation
import MigrationHosting
import TestSupport
import Testing

/// Files that an export by an extension does not append, and their report.
@Suite(.scratchDirectory)
struct LeftBehindTests {
    private let stage: Stage

    init() throws {
        stage = try Stage()
        for directory in [
            "Documents/Album.bundle", "Library/Preferences", "Library/Caches", "tmp",
        ] {
            try FileManager.default.createDirectory(
                at: stage.source.url.appending(path: directory),
                withIntermediateDirectories: true
            )
        }
        try write("Documents/a", "12345")
        try write("Documents/.hidden", "123")
        try write("Documents/Album.bundle/one", "1")
        try write("Documents/Album.bundle/two", "22")
        try write("Library/Preferences/settings", "1234")
        try FileManager.default.removeItem(at: (stage.source / "settings").url)
    }

    private func write(_ path: String, _ text: String) throws {
        try Data(text.utf8).write(to: stage.source.url.appending(path: path))
    }

    private func export(
        _ script: String,
        _ hosting: Hosting = .ownProcess,
        _ options: ExportOptions = ExportOptions()
    ) async throws -> LeftBehind {
        // The script itself is exported too, so that it is not left behind.
        try (stage.source / "script").write(script + "\nappend script as script")
        let report = try await stage.export(stage.scripted(hosting), options: options)
        return try #require(report.leftBehind)
    }

    private func item(
        _ path: String,
        _ files: Int,
        _ bytes: UInt64,
        in group: String? = nil,
        isPurgeable: Bool = false
    ) -> Expected {
        Expected(group: group, path: path, files: files, bytes: bytes, isPurgeable: isPurgeable)
    }

    /// An item as a test expects it.
    struct Expected: Equatable {
        let group: String?
        let path: String
        let files: Int
        let bytes: UInt64
        let isPurgeable: Bool
    }

    private func items(_ left: LeftBehind) -> [Expected] {
        left.items.map { item in
            Expected(
                group: item.group,
                path: item.path,
                files: item.files,
                bytes: item.bytes,
                isPurgeable: item.isPurgeable
            )
        }
    }

    @Test(arguments: Hosting.allCases)
    func `names the topmost paths of which nothing was appended`(
        _ hosting: Hosting
    ) async throws {
        let left = try await export("append Documents/a as a", hosting)
        #expect(
            items(left) == [
                item("Documents/.hidden", 1, 3), item("Documents/Album.bundle", 2, 3),
                item("Library", 1, 4),
            ]
        )
        #expect(left.count == 3 && left.files == 4 && left.bytes == 10 && left.neededCount == 3)
    }

    @Test(arguments: Hosting.allCases)
    func `says nothing where all was appended, under whatever names`(
        _ hosting: Hosting
    ) async throws {
        try (stage.source / "link").makeSymbolicLink(to: "Documents/a")
        try (stage.source / "again").makeHardLink(to: stage.source / "script")
        let left = try await export(
            "append Documents as files\nappend Library as x\nappend link as l",
            hosting
        )
        #expect(items(left) == [])
        #expect(left.files == 0 && left.neededCount == 0)
    }

    @Test(arguments: Hosting.allCases)
    func `an original of which a copy was appended is left behind`(
        _ hosting: Hosting
    ) async throws {
        let left = try await export(
            "fill tmp:a 5\nappend tmp:a as a\nappend Library as l",
            hosting
        )
        #expect(items(left) == [item("Documents", 4, 11)])
    }

    @Test func `caches and temporary files are listed apart, and not expected`() async throws {
        try write("Library/Caches/page", "1234567")
        try write("tmp/draft", "12")
        var options = ExportOptions()
        options.expectsComplete = true
        let left = try await export(
            "append Documents as d\nappend Library/Preferences as p",
            .ownProcess,
            options
        )
        #expect(
            items(left) == [
                item("Library/Caches", 1, 7, isPurgeable: true),
                item("tmp", 1, 2, isPurgeable: true),
            ]
        )
        #expect(left.neededCount == 0)
        let more = try await export("append Documents as d")
        #expect(
            items(more) == [
                item("Library/Caches", 1, 7, isPurgeable: true), item("Library/Preferences", 1, 4),
                item("tmp", 1, 2, isPurgeable: true),
            ]
        )
        #expect(more.neededCount == 1)
    }

    @Test(arguments: Hosting.allCases)
    func `an export that is expected to be complete fails, and leaves nothing`(
        _ hosting: Hosting
    ) async throws {
        var options = ExportOptions()
        options.expectsComplete = true
        let error = await #expect(throws: MigrationError.self) {
            try await export("append Documents/a as a", hosting, options)
        }
        #expect(error?.code == .exportIncomplete)
        #expect(
            error?.message.contains("Documents/.hidden, Documents/Album.bundle, Library") ?? false
        )
        #expect(!stage.archive.exists)
        #expect(try stage.leftovers() == [])
    }

    @Test(arguments: Hosting.allCases)
    func `what lies in an app group counts too`(_ hosting: Hosting) async throws {
        let group = try stage.makeGroup()
        try (group / "taken").write("t")
        try (group / "left").write("left")
        let script = "append Documents as d\nappend Library as l\nappend group:shared/taken as t"
        try (stage.source / "script").write(script + "\nappend script as script")
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let left = try #require(try await stage.export(scripted).leftBehind)
        #expect(items(left) == [item("left", 1, 4, in: "shared")])
    }

    @Test func `lists a thousand paths and counts the rest`() async throws {
        for number in 0..<1_200 { try write("Documents/Album.bundle/\(number + 1_000)", "x") }
        let left = try await export("append Documents/Album.bundle/one as one\nappend Library as l")
        #expect(left.items.count == 1_000)
        // Every number, `two`, `a` and `.hidden`.
        #expect(left.count == 1_203 && left.files == 1_203)
        #expect(left.items.first?.path == "Documents/.hidden")
        let whole = try await export("append Library as l")
        #expect(items(whole) == [item("Documents", 1_204, 1_211)])
    }

    @Test func `the whole container leaves nothing behind that it does not list as left out`()
        async throws
    {
        let report = try await MigrationHost().export(
            stage.container(at: stage.source),
            to: .file(path: stage.archive, replacesExisting: true)
        )
        #expect(report.leftBehind == nil)
    }
}
