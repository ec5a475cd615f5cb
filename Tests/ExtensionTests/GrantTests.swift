import Foundation
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// The files and directories outside the container that a person granted to an extension.
@Suite(.scratchDirectory)
struct GrantTests {
    /// Files to grant, beside the containers of `stage`.
    private func makePhotos(_ stage: Stage) throws -> BytePath {
        let photos = stage.root / "photos"
        try photos.makeDirectory()
        try (photos / "one").write("picture")
        return photos
    }

    /// Exports by `commands`, and returns what the extension noted.
    private func notes(
        of commands: String,
        _ stage: Stage,
        granting grants: [GrantedResource],
        _ hosting: Hosting = .ownProcess
    ) async throws -> [String] {
        let script = "\(commands)\nnotes tmp:notes\nappend tmp:notes as notes"
        try (stage.source / "script").write(script)
        var scripted = stage.scripted(hosting)
        scripted.grantedResources = grants
        let report = try await stage.export(scripted)
        if hosting == .ownProcess {
            #expect(report.appExtension?.confinement.hidesOtherFiles == true)
        }
        return lines(of: try await stage.archivedText("notes"))
    }

    /// The notes of a script, without those that every run takes first.
    private func lines(of notes: String) -> [String] {
        notes.split(separator: "\n").map(String.init).filter { note in
            ["attempt", "grants", "read", "resolve", "start", "try-bookmark"].contains {
                note.hasPrefix("\($0) ")
            } || note.contains("startAccessing")
        }
    }

    /// Whether `note` reports a denial, by any means of the system.
    private func isDenied(_ note: String) -> Bool {
        ["EACCES", "ENOENT", "EROFS"].contains { note.hasSuffix(" \($0)") }
    }

    @Test(.enabled(if: Sandbox.support.confinesFiles, "this kernel has no Landlock"))
    func `a directory opens by its own URL alone, and until the last call is taken back`()
        async throws
    {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        let notes = try await notes(
            of: """
                read grant:photos/one
                attempt list grant:photos
                start grant:photos/one
                read grant:photos/one
                start grant:photos
                start grant:photos
                read grant:photos/one
                attempt list grant:photos
                attempt write grant:photos/one
                attempt write grant:photos/new
                attempt list grant:photos/..
                stop grant:photos
                read grant:photos/one
                stop grant:photos
                stop grant:photos
                read grant:photos/one
                start grant:photos
                read grant:photos/one
                """,
            stage,
            granting: [GrantedResource(name: "photos", url: photos.url)]
        )
        try #require(notes.count == 15)
        #expect(isDenied(notes[0]) && isDenied(notes[1]))
        #expect(notes[2] == "start grant:photos/one false")
        #expect(isDenied(notes[3]))
        #expect(notes[4...5].allSatisfy { $0 == "start grant:photos true" })
        #expect(notes[6...7].allSatisfy { $0.hasSuffix("done") })
        #expect(notes[8...10].allSatisfy(isDenied))
        #expect(notes[11].hasSuffix("done"))
        #expect(isDenied(notes[12]))
        #expect(notes[13] == "start grant:photos true")
        #expect(notes[14].hasSuffix("done"))
    }

    @Test(.enabled(if: Sandbox.support.confinesFiles, "this kernel has no Landlock"))
    func `an import changes what was granted for writing, and only while it is open`() async throws
    {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        try await stage.makeArchive(
            """
            attempt write grant:photos/early
            start grant:photos
            write grant:photos/new text
            remove grant:photos/one
            stop grant:photos
            attempt write grant:photos/late
            notes Documents/notes
            """
        )
        var scripted = stage.scripted()
        scripted.grantedResources = [
            GrantedResource(name: "photos", url: photos.url, isWritable: true)
        ]
        try await stage.importArchive(scripted)
        let notes = lines(of: try stage.importedText("Documents/notes"))
        #expect(isDenied(notes[0]) && isDenied(notes[2]))
        #expect(try photos.names() == ["new"])
        #expect(try (photos / "new").contents() == Data("text".utf8))
    }

    @Test(.enabled(if: Sandbox.support.confinesFiles, "this kernel has no Landlock"))
    func `links lead out of no granted directory`() async throws {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        try (stage.root / "secret").write("secret")
        try (photos / "passwd").makeSymbolicLink(to: "/etc/passwd")
        try (photos / "secret").makeSymbolicLink(to: "../secret")
        try (photos / "above").makeSymbolicLink(to: "..")
        let notes = try await notes(
            of: """
                start grant:photos
                read grant:photos/passwd
                read grant:photos/secret
                read grant:photos/above/secret
                read grant:photos/one
                """,
            stage,
            granting: [GrantedResource(name: "photos", url: photos.url)]
        )
        try #require(notes.count == 5)
        #expect(notes[1...3].allSatisfy(isDenied))
        #expect(notes[4].hasSuffix("done"))
    }

    @Test(
        .enabled(if: Sandbox.support.confinesFiles, "this kernel has no Landlock"),
        arguments: [true, false]
    )
    func `a grant in another keeps its own terms, whichever opens first`(
        _ opensInnerFirst: Bool
    ) async throws {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        let album = photos / "album"
        try album.makeDirectory()
        let opening = ["start grant:album", "start grant:photos"]
        let notes = try await notes(
            of: """
                \((opensInnerFirst ? opening : opening.reversed()).joined(separator: "\n"))
                attempt write grant:album/new
                attempt write grant:photos/new
                read grant:photos/album/new
                stop grant:album
                attempt write grant:album/more
                read grant:photos/album/new
                start grant:album
                stop grant:photos
                read grant:photos/one
                attempt write grant:album/more
                stop grant:album
                read grant:album/new
                """,
            stage,
            granting: [
                GrantedResource(name: "photos", url: photos.url),
                GrantedResource(name: "album", url: album.url, isWritable: true),
            ]
        )
        try #require(notes.count == 11)
        #expect(notes[2].hasSuffix("done"))
        #expect(isDenied(notes[3]))
        #expect(notes[4].hasSuffix("done"))
        #expect(isDenied(notes[5]))
        #expect(notes[6].hasSuffix("done"))
        #expect(isDenied(notes[8]))
        #expect(notes[9].hasSuffix("done"))
        #expect(isDenied(notes[10]))
        #expect(try album.names().sorted() == ["more", "new"])
    }

    @Test(arguments: Hosting.allCases)
    func `items of an open grant are archived like others, and of a closed one refused`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        let package = photos / "letter.rtfd"
        try package.makeDirectory()
        try (package / "TXT.rtf").write("text")
        try (stage.root / "note").write("granted file")
        let notes = try await notes(
            of: """
                grants
                try-append grant:photos/one as early
                start grant:photos
                append grant:photos/letter.rtfd
                append grant:photos/one as one
                stop grant:photos
                try-append grant:photos/one as late
                start grant:note
                append grant:note as note
                """,
            stage,
            granting: [
                GrantedResource(name: "photos", url: photos.url, isWritable: true),
                GrantedResource(name: "note", url: (stage.root / "note").url),
            ],
            hosting
        )
        #expect(notes.first == "grants note false, photos true")
        #expect(notes.count { $0.contains("startAccessingSecurityScopedResource") } == 2)
        #expect(
            try await stage.archivedPaths().sorted()
                == ["letter.rtfd", "letter.rtfd/TXT.rtf", "note", "notes", "one"]
        )
        #expect(try await stage.archivedText("one") == "picture")
        #expect(try await stage.archivedText("note") == "granted file")
    }

    @Test func `a bookmark finds the grant of its name, and tells if that is another file`()
        async throws
    {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        let group = try stage.makeGroup()
        try await stage.makeArchive("bookmark grant:photos group:shared/bookmark")
        var scripted = stage.scripted()
        scripted.applicationGroups = ["shared": group.url]
        scripted.grantedResources = [GrantedResource(name: "photos", url: photos.url)]
        try await stage.importArchive(scripted)
        let moved = stage.root / "moved"
        try FileManager.default.moveItem(at: photos.url, to: moved.url)
        for (place, isStale) in [(moved, true), (photos, true), (photos, false)] {
            if isStale, place == photos { try photos.makeDirectory() }
            if !isStale {
                try FileManager.default.removeItem(at: photos.url)
                try FileManager.default.moveItem(at: moved.url, to: photos.url)
            }
            let script = "resolve group:shared/bookmark\nnotes tmp:notes\nappend tmp:notes as notes"
            try (stage.source / "script").write(script)
            scripted.grantedResources = [GrantedResource(name: "photos", url: place.url)]
            try await stage.export(scripted)
            let name = place.url.lastPathComponent
            #expect(
                try await lines(of: stage.archivedText("notes"))
                    == ["resolve \(name) stale \(isStale) opens true"]
            )
        }
        scripted.grantedResources = []
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .extensionFailed)
    }

    @Test(arguments: Hosting.allCases)
    func `a bookmark of a file in an open grant finds it, and opens the grant`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        let photos = try makePhotos(stage)
        let group = try stage.makeGroup()
        try await stage.makeArchive(
            """
            try-bookmark grant:photos/one
            start grant:photos
            bookmark grant:photos/one group:shared/bookmark
            try-bookmark grant:photos/none
            notes Documents/notes
            """
        )
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        scripted.grantedResources = [GrantedResource(name: "photos", url: photos.url)]
        try await stage.importArchive(scripted)
        let tries = lines(of: try stage.importedText("Documents/notes"))
        #expect(tries.first == "try-bookmark grant:photos/one CocoaError 257")
        #expect(tries.last == "try-bookmark grant:photos/none CocoaError 4")
        let moved = stage.root / "moved"
        try FileManager.default.moveItem(at: photos.url, to: moved.url)
        let script = """
            resolve group:shared/bookmark
            append resolved: as one
            notes tmp:notes
            append tmp:notes as notes
            """
        try (stage.source / "script").write(script)
        for (place, isStale) in [(moved, true), (photos, false)] {
            if place == photos {
                try FileManager.default.moveItem(at: moved.url, to: photos.url)
            }
            scripted.grantedResources = [GrantedResource(name: "photos", url: place.url)]
            try await stage.export(scripted)
            let notes = lines(of: try await stage.archivedText("notes"))
            #expect(notes == ["resolve one stale \(isStale) opens true"])
            #expect(try await stage.archivedText("one") == "picture")
        }
        try FileManager.default.removeItem(at: (photos / "one").url)
        try (photos / "one").makeSymbolicLink(to: "/etc/hostname")
        #expect(try await stage.failure(of: scripted).code == .extensionFailed)
    }

    @Test func `what can't be granted refuses the session by name`() async throws {
        let stage = try Stage("append Documents")
        let photos = try makePhotos(stage)
        try (stage.root / "link").makeSymbolicLink(to: "photos")
        let refusals: [([BytePath], String)] = [
            ([stage.source / "Documents"], "overlaps with the container"),
            ([stage.root], "overlaps with the container"),
            ([stage.root / "missing"], "can't be reached"),
            ([photos, photos], "granted twice"),
            ([photos, stage.root / "link"], "granted twice"),
            (["/dev/null"], "neither a file nor a directory"),
        ]
        for (paths, words) in refusals {
            var scripted = stage.scripted()
            scripted.grantedResources = paths.enumerated().map { number, path in
                GrantedResource(name: "grant-\(number)", url: path.url)
            }
            let error = try await stage.failure(of: scripted)
            #expect(error.code == .invalidOption)
            #expect(error.message.contains(words), "\(error)")
            #expect(error.message.contains("'grant-\(paths.count - 1)'"))
        }
        #expect(!stage.archive.exists)
    }
}
