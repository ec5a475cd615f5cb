import Foundation
import MigrationArchive
import MigrationHosting
import TestSupport
import Testing

/// How an append treats its item (the decisions where Apple is silent).
@Suite(.scratchDirectory)
struct AppendTests {
    @Test(arguments: Hosting.allCases)
    func `rule 15: appends a directory with what is in it`(_ hosting: Hosting)
        async throws
    {
        let stage = try Stage("append Documents as content/all")
        for name in ["b", "a", "Z", "c"] { try (stage.source / "Documents/\(name)").write(name) }
        try (stage.source / "Documents/empty").makeDirectory()
        try (stage.source / "Documents/link").makeSymbolicLink(to: "a")
        try await stage.export(stage.scripted(hosting))
        let expected =
            ["content", "content/all"]
            + ["Z", "a", "b", "c", "empty", "link"].map { "content/all/" + $0 }
        #expect(try await stage.archivedPaths() == expected)
    }

    @Test(
        arguments: Hosting.allCases,
        ["", "/a", "//a", "a/../b", "..", ".", "./", "/."]
    )
    func `refuses a path that an archive can't hold, and goes on`(
        _ hosting: Hosting,
        _ name: String
    ) async throws {
        let stage = try Stage("try-append Documents/a as \(name)\nappend Documents/a as kept")
        try (stage.source / "Documents/a").write("a")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["kept"])
    }

    @Test(arguments: Hosting.allCases)
    func `appends what a URL names by escaped bytes that are not UTF-8`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append escaped:a%FF\nappend escaped:d%fe/%80 as deep")
        try (stage.source / "Documents" / [0x61, 0xFF]).write("bytes")
        // The name that Foundation would use instead.
        try (stage.source / "Documents/a\u{FFFD}").write("another")
        let directory = stage.source / "Documents" / [0x64, 0xFE]
        try directory.makeDirectory()
        try (directory / [0x80]).write("deep")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["a\\xFF", "deep"])
        #expect(try await stage.archivedText("deep") == "deep")
    }

    @Test(
        arguments: Hosting.allCases,
        [("x/", "x"), ("./x", "x"), ("y//x", "y/x"), ("././y/./x//", "y/x"), ("x/./", "x")]
    )
    func `drops what is empty in a path, and says so`(
        _ hosting: Hosting,
        _ path: (given: String, archived: String)
    ) async throws {
        let stage = try Stage(
            """
            append Documents/a as \(path.given)
            try-append Documents/b as \(path.archived)
            append Documents/deep as deep/
            """
        )
        try (stage.source / "Documents/a").write("a")
        try (stage.source / "Documents/b").write("another")
        try (stage.source / "Documents/deep").makeDirectory()
        let report = try await stage.export(stage.scripted(hosting))
        let files = try await stage.archivedPaths().filter { $0 != "deep" && $0 != "y" }
        #expect(files == [path.archived])
        #expect(try await stage.archivedText(path.archived) == "a")
        let finding = report.appExtension?.findings.first { $0.code == .pathShortened }
        #expect(finding?.message.hasPrefix("2 paths") == true)
        #expect(finding?.message.hasSuffix(": \(path.given), deep/") == true)
    }

    @Test(
        arguments: Hosting.allCases,
        ["append Documents/a as x", "append Documents as x", "append Documents/a as x/y"]
    )
    func `keeps the first of two items of one path`(
        _ hosting: Hosting,
        _ first: String
    ) async throws {
        let stage = try Stage(
            """
            \(first)
            try-append Documents/b as x
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        try (stage.source / "Documents/a").write("a")
        try (stage.source / "Documents/b").write("b")
        try await stage.export(stage.scripted(hosting))
        let paths = try await stage.archivedPaths()
        #expect(paths.filter { $0 == "x" }.count == 1)
        let notes = try await stage.archivedText("notes")
        #expect(notes.contains("caught ArchiveError is in the archive already: x"))
    }

    @Test(arguments: Hosting.allCases)
    func `refuses a file beneath a file`(_ hosting: Hosting) async throws {
        let stage = try Stage("append Documents/a as x\ntry-append Documents/a as x/y")
        try (stage.source / "Documents/a").write("a")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["x"])
    }

    @Test(arguments: Hosting.allCases)
    func `archives a link as a link, wherever it leads`(_ hosting: Hosting) async throws {
        let stage = try Stage("append Documents/out as out")
        try (stage.source / "Documents/out").makeSymbolicLink(to: "/etc/passwd")
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.totals.symbolicLinks == 1)
        #expect(report.externalLinks.map(\.description) == ["out -> /etc/passwd"])
    }

    @Test(arguments: Hosting.allCases)
    func `follows no link out of the container on the way to an item`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(
            """
            try-append Documents/out/hostname as stolen
            try-append /etc/hostname as stolen
            try-append Documents/../../outside as stolen
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        try (stage.source / "Documents/out").makeSymbolicLink(to: "/etc")
        try (stage.root / "outside").write("outside")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["notes"])
        let notes = try await stage.archivedText("notes")
        #expect(notes.split(separator: "\n").count { $0.contains("lies outside") } == 3)
    }

    @Test(arguments: Hosting.allCases)
    func `fails for a FIFO that is named, and reports one in a directory`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(
            "try-append Documents/fifo as fifo\nappend Documents as all"
        )
        try (stage.source / "Documents/fifo").makeFIFO()
        let report = try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["all"])
        #expect(report.omissions.items.map(\.path) == ["all/fifo"])
        #expect(report.omissions.items.map(\.reason) == [.specialFile])
    }

    @Test(arguments: Hosting.allCases)
    func `goes on after an item that is not there`(_ hosting: Hosting) async throws {
        let stage = try Stage("try-append Documents/none as a\nappend Documents as b")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["b"])
    }

    @Test(arguments: Hosting.allCases)
    func `archives both names of one file as links`(_ hosting: Hosting) async throws {
        let stage = try Stage(
            "try-append Documents/none as a\nappend Documents/one as a\nappend Documents/two as b"
        )
        try (stage.source / "Documents/one").write("content")
        try (stage.source / "Documents/two").makeHardLink(to: stage.source / "Documents/one")
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.totals.hardLinks == 1)
        #expect(try await stage.archivedText("a") == "content")
    }

    @Test(arguments: Hosting.allCases)
    func `leaves out the container's bookkeeping alone`(_ hosting: Hosting) async throws {
        let stage = try Stage("try-append .migration as stolen\nappend . as root")
        try (stage.source / ".migration").makeDirectory()
        try (stage.source / ".migration/import-status.json").write("{}")
        try (stage.source / "tmp").makeDirectory()
        try await stage.export(stage.scripted(hosting))
        let paths = try await stage.archivedPaths()
        #expect(!paths.contains { $0.contains("migration") || $0.contains("stolen") })
        #expect(paths.contains("root/tmp"))
    }

    @Test(arguments: Hosting.allCases)
    func `knows the container's bookkeeping by any path`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        let root = String(decoding: stage.source.bytes, as: UTF8.self)
        let paths = [
            "\(root)/./.migration/import-status.json", "\(root)//.migration/import-status.json",
            "\(root)/Documents/../.migration/import-status.json", "\(root)/Documents/../.migration",
            "here/.migration", "kept/import-status.json", "kept/deep/deeper/a",
        ]
        let script = paths.enumerated().map { "try-append \($1) as \($0)" }
        try (stage.source / "script").write(
            (script + [
                "notes tmp:notes", "append tmp:notes as notes",
                "append \(root)//./Documents/../Documents//page as page",
            ]).joined(separator: "\n")
        )
        try stage.makeDocument()
        for name in [".migration", ".migration/deep", ".migration/deep/deeper"] {
            try (stage.source / "\(name)").makeDirectory()
        }
        try (stage.source / ".migration/import-status.json").write("{}")
        try (stage.source / ".migration/deep/deeper/a").write("a")
        try (stage.source / "here").makeSymbolicLink(to: ".")
        try (stage.source / "kept").makeSymbolicLink(to: ".migration")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["notes", "page"])
        let notes = try await stage.archivedText("notes").split(separator: "\n")
        #expect(notes.count { $0.contains("is the container's bookkeeping") } == paths.count)
    }

    @Test(arguments: Hosting.allCases)
    func `gives the same bytes wherever the extension runs`(_ hosting: Hosting) async throws {
        let stage = try Stage("append Documents/a as x/a\nappend Documents as all")
        try (stage.source / "Documents/a").write("a")
        let first = try await stage.export(stage.scripted(.inProcess))
        let second = try await stage.export(stage.scripted(hosting))
        #expect(first.fingerprint == second.fingerprint)
    }
}
