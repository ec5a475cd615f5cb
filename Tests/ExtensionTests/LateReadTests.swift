import Foundation
import MigrationArchive
import MigrationHosting
import TestSupport
import Testing

/// When an extension's appended items are read.
@Suite(.scratchDirectory)
struct LateReadTests {
    @Test(arguments: ["remove Documents/a", "write Documents/a another text"])
    func `fails where a file of the container changes after its append`(
        _ change: String
    ) async throws {
        let stage = try Stage(
            "append Documents/a as dir/a\n\(change)\ntry-append Documents/b as b"
        )
        for name in ["a", "b"] { try (stage.source / "Documents/\(name)").write(name) }
        let error = await #expect(throws: ArchiveError.self) {
            try await stage.export(stage.scripted(.inProcess))
        }
        #expect(error?.code == .sourceChanged)
        #expect(error?.entry == EntryPath("dir/a"))
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `reads what is in the temporary directory before its append ends`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(
            """
            append Documents/a as b/a
            directory tmp:d
            write tmp:d/t the text
            append tmp:d as a/d
            remove tmp:d
            write tmp:d another text
            append tmp:d as b/d
            remove tmp:d
            append Documents/a as a/a
            """
        )
        try (stage.source / "Documents/a").write("a")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedText("a/d/t") == "the text")
        #expect(try await stage.archivedText("b/d") == "another text")
        let paths = ["a", "a/a", "a/d", "a/d/t", "b", "b/a", "b/d"]
        #expect(try await stage.archivedPaths().sorted() == paths)
    }

    @Test func `archives a file before its other name in the temporary directory`() async throws {
        let stage = try Stage(
            "link Documents/a tmp:b\nappend Documents/a as a\nappend tmp:b as b\nremove tmp:b"
        )
        try (stage.source / "Documents/a").write("a")
        let report = try await stage.export(stage.scripted(.inProcess))
        #expect(report.totals.hardLinks == 1)
        #expect(try await stage.archivedText("b") == "a")
    }

    @Test(arguments: Hosting.allCases)
    func `goes on without a file that can't be read`(_ hosting: Hosting) async throws {
        guard geteuid() != 0 else { try Test.cancel("root reads everything") }
        let stage = try Stage("try-append Documents/a as a\nappend Documents/b as b")
        for name in ["a", "b"] { try (stage.source / "Documents/\(name)").write(name) }
        try (stage.source / "Documents/a").setMode(0)
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedPaths() == ["b"])
    }
}
