import Foundation
import MigrationHosting
import TestSupport
import Testing

/// An extension that uses the encoded paths of its URLs, in directories anywhere.
@Suite(.scratchDirectory)
struct PathTests {
    /// Names of directories that are spelled differently in a URL.
    static let names: [BytePath] = [
        "with space", "jürgen", "a#b?c", "per%41cent", "\u{1F5C2}\u{FE0F}",
    ]

    /// A name that isn't valid UTF-8.
    static let bytes = BytePath([0x66, 0xFF])

    @Test(arguments: Hosting.allCases, names)
    func `an export finds its container, its groups and its temporary directory`(
        _ hosting: Hosting,
        _ name: BytePath
    ) async throws {
        let looks = "look .\nlook Documents\nlook group:shared\nlook tmp:\n"
        let stage = try Stage(
            looks + "notes tmp:notes\nappend Documents/own as own\nappend tmp:notes as notes",
            beneath: name
        )
        try (stage.source / "Documents/own").write("own")
        let group = try stage.makeGroup()
        try (group / "shared").write("shared")
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let report = try await stage.export(scripted)
        // Resolving the link gives the directory's own name again.
        let resolved = hosting == .ownProcess ? " resolved" : ""
        let expected = [
            "look . encoded standardized\(resolved) 5 5 4 5",
            "look Documents encoded standardized\(resolved) 1 1 1 1",
            "look group:shared encoded standardized\(resolved) 1 1 1 1",
            "look tmp: encoded standardized resolved 0 0 0 0",
        ]
        let notes = try await stage.archivedText("notes").split(separator: "\n").map(String.init)
        #expect(notes.filter { $0.hasPrefix("look") } == expected)
        #expect(try await stage.archivedText("own") == "own")
        #expect(report.appExtension?.paths == (hosting == .ownProcess ? .mounted : .linked))
    }

    @Test(arguments: Hosting.allCases, names)
    func `an import moves files by renaming them`(
        _ hosting: Hosting,
        _ name: BytePath
    ) async throws {
        let stage = try Stage(beneath: name)
        try await stage.makeArchive(
            """
            look in:
            look .
            inode in:file
            move in:file Documents/file
            write group:shared/new new
            notes Documents/notes
            """,
            files: ["file": "text"]
        )
        let group = try stage.makeGroup()
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let report = try await stage.importArchive(scripted)
        #expect(try stage.importedText("Documents/file") == "text")
        #expect(try String(decoding: (group / "new").contents(), as: UTF8.self) == "new")
        let resolved = hosting == .ownProcess ? " resolved" : ""
        let notes = try stage.importedText("Documents/notes").split(separator: "\n")
        #expect(notes.contains("look in: encoded standardized\(resolved) 2 2 2 2"))
        // Of those in the container, Application Support has a space.
        #expect(notes.contains("look . encoded standardized\(resolved) 6 5 3 6"))
        let file = (stage.destination / "Documents/file").url.path
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        let number = try #require(attributes[.systemFileNumber])
        #expect(notes.contains("inode \(number)"))
        #expect(report.appExtension?.paths == (hosting == .ownProcess ? .mounted : .linked))
    }

    @Test(arguments: names + [bytes])
    func `a process of its own is never told the container's own name`(
        _ name: BytePath
    ) async throws {
        let stage = try Stage("look .\nnotes tmp:notes\nappend tmp:notes as notes", named: name)
        try await stage.export(stage.scripted())
        let notes = try await stage.archivedText("notes")
        // Of those in the container, Application Support has a space.
        #expect(notes.contains("look . encoded standardized resolved 4 4 4 4"))
    }

    @Test(arguments: names + [bytes])
    func `an export in the host's process is refused where the name itself needs encoding`(
        _ name: BytePath
    ) async throws {
        let stage = try Stage("append Documents as a", named: name)
        let error = try await stage.failure(of: stage.scripted(.inProcess))
        #expect(error.code == .pathNeedsEncoding)
        #expect(error.message.contains("use only letters, digits"))
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `takes the real path of an item for the one that the extension was given`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(beneath: "jürgen")
        let own = stage.source / "Documents/own"
        try own.write("own")
        try (stage.source / "script").write("append \(own.url.path) as own")
        try await stage.export(stage.scripted(hosting))
        #expect(try await stage.archivedText("own") == "own")
    }

    @Test func `leaves paths that need no encoding as they are`() async throws {
        let stage = try Stage("describe\nnotes tmp:notes\nappend tmp:notes as notes")
        let report = try await stage.export(stage.scripted())
        let notes = try await stage.archivedText("notes")
        #expect(notes.contains("root \(stage.source.url.path)"))
        #expect(report.appExtension?.paths == .unchanged)
    }

    @Test(arguments: Hosting.allCases)
    func `URLs of containers have no slash at their ends`(_ hosting: Hosting) async throws {
        let stage = try Stage(
            """
            strip .
            strip documents:
            strip group:shared
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        let group = try stage.makeGroup()
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        try await stage.export(scripted)
        let notes = try await stage.archivedText("notes").split(separator: "\n")
        let places = [".", "documents:", "group:shared"]
        #expect(notes.suffix(3) == places.map { "strip \($0) /data.bin" }[...])
    }

    @Test func `says in a preflight how the extension sees its paths`() async throws {
        let stage = try Stage(beneath: "with space")
        let host = MigrationHost()
        let container = try stage.container(at: stage.source)
        let mounted = try await host.preflight(container, using: stage.scripted())
        #expect(mounted.paths == .mounted)
        let linked = try await host.preflight(container, using: stage.scripted(.inProcess))
        #expect(linked.paths == .linked)
    }

    @Test(arguments: Hosting.allCases)
    func `an importer that empties its container keeps what it is to import`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            """
            remove Documents
            remove Library
            remove tmp
            look .
            directory Documents
            move in:file Documents/file
            notes Documents/notes
            """,
            files: ["file": "text"]
        )
        try await stage.importArchive(stage.scripted(hosting))
        #expect(try stage.importedText("Documents/file") == "text")
        let notes = try stage.importedText("Documents/notes")
        // Of those in the container, Application Support has a space.
        #expect(notes.contains("look . encoded standardized resolved 0 0 0 0"))
        #expect(try stage.leftovers() == [])
    }

    @Test(arguments: Hosting.allCases)
    func `an importer that replaces its container's directory fails`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("move . in:moved\ndirectory .\nwrite new text")
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted(hosting))
        }
        #expect(error?.code == .extensionFailed)
        #expect(error?.message.contains("removed or replaced its container's directory") == true)
        #expect(try stage.leftovers() == [])
    }
}
