import Foundation
import MigrationHosting
import TestSupport
import Testing

/// A user who is not root, without an account, and with no group of root's.
private enum OtherUser {
    static let number = 65_533

    /// Whether this process may become that user, and that user can read the tests' build
    /// directory.
    static let isPossible =
        geteuid() == 0
        && succeeds(
            "setpriv --reuid \(number) --regid \(number) --clear-groups "
                + "test -x '\(Stage.program.path)'"
        )

    static func succeeds(_ command: String) -> Bool {
        system("{ \(command); } >/dev/null 2>&1") == 0
    }
}

/// Root works for the owner of another user's container, and runs its extension with their rights.
@Suite(
    .scratchDirectory,
    .enabled(if: OtherUser.isPossible, "needs root, and a build others can read")
)
struct OwnerTests {
    /// Directories whose paths are shown to the extension unchanged, and through a mount of its
    /// own.
    static let places: [BytePath] = ["plain", "with space"]

    /// Gives `paths` and everything in them to the user.
    private func give(_ paths: BytePath...) throws {
        for path in paths {
            try #require(
                OtherUser.succeeds(
                    "chown -hR \(OtherUser.number):\(OtherUser.number) '\(path.url.path)'"
                )
            )
        }
    }

    /// The owners of everything at `path` and below it, each once.
    private func owners(of path: BytePath) throws -> Set<Int> {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path.url.path)
        return Set(
            try ([path.url] + names.map { path.url.appending(path: $0) }).flatMap { url in
                var status = stat()
                try #require(lstat(url.path, &status) == 0)
                return [Int(status.st_uid), Int(status.st_gid)]
            }
        )
    }

    @Test(arguments: places)
    func `an export's extension has the owner's rights and no others`(
        _ place: BytePath
    ) async throws {
        let secret = try BytePath.scratch / "secret"
        try secret.write("root's")
        try secret.setMode(0o600)
        let stage = try Stage(
            """
            identity
            attempt chmod \(secret.url.path)
            attempt chmod \(Stage.program.path)
            append Documents as a
            notes tmp:notes
            append tmp:notes as notes
            """,
            beneath: place
        )
        try give(stage.source)
        var scripted = stage.scripted()
        // This test isn't about the sandbox.
        scripted.confinement = .none
        let report = try await stage.export(scripted)
        let notes = try await stage.archivedText("notes").split(separator: "\n").map(String.init)
        let user = OtherUser.number
        #expect(notes.contains("identity \(user) \(user) \(user) \(user) []"))
        #expect(notes.contains("attempt chmod \(secret.url.path) EPERM"))
        #expect(notes.contains("attempt chmod \(Stage.program.path) EPERM"))
        let phrase = try #require(report.appExtension?.confinement.user)
        #expect(phrase.contains("user \(user)"))
        #expect(phrase.contains("who owns the container"))
        #expect(try stage.leftovers() == [])
    }

    @Test func `root's own container stays root's`() async throws {
        let stage = try Stage("identity\nnotes tmp:notes\nappend tmp:notes as notes")
        let report = try await stage.export(stage.scripted())
        #expect(try await stage.archivedText("notes").contains("identity 0 0 0 0 "))
        #expect(report.appExtension?.confinement.user == "root, who owns the container")
        try await stage.makeArchive("write Documents/new new")
        try await stage.importArchive(stage.scripted())
        #expect(try owners(of: stage.destination) == [0])
    }

    @Test(arguments: places)
    func `an import's extension makes what its owner can read`(_ place: BytePath) async throws {
        let stage = try Stage(beneath: place)
        try await stage.makeArchive(
            """
            identity
            write Documents/new new
            directory Documents/sub
            move in:file Documents/moved
            notes Documents/notes
            """,
            files: ["file": "text"]
        )
        try stage.destination.makeDirectory()
        try give(stage.destination)
        try await stage.importArchive(stage.scripted())
        #expect(try stage.importedText("Documents/moved") == "text")
        #expect(try stage.importedText("Documents/notes").contains("identity \(OtherUser.number) "))
        #expect(try owners(of: stage.destination) == [OtherUser.number])
        #expect(try stage.leftovers() == [])
    }

    @Test func `what an extension in the host's process makes is the owner's`() async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            """
            write Documents/new new
            link Documents/new Documents/twin
            directory Documents/sub
            directory Documents/sub/deep
            fifo Documents/sub/deep/fifo
            move in:file Documents/moved
            """,
            files: ["file": "text"]
        )
        try stage.destination.makeDirectory()
        try give(stage.destination)
        try await stage.importArchive(stage.scripted(.inProcess))
        #expect(try stage.importedText("Documents/twin") == "new")
        #expect((stage.destination / "Documents/sub/deep/fifo").exists)
        #expect(try owners(of: stage.destination) == [OtherUser.number])
    }

    @Test func `a file of root's that the host's process linked stays root's`() async throws {
        let stage = try Stage()
        let outside = try BytePath.scratch / "outside"
        try outside.write("root's")
        try await stage.makeArchive(
            "write Documents/new new\nlink \(outside.url.path) Documents/hard"
        )
        try stage.destination.makeDirectory()
        try give(stage.destination)
        try await stage.importArchive(stage.scripted(.inProcess))
        let made = stage.destination / "Documents/new"
        for (path, owner) in [(outside, 0), (made, OtherUser.number)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path.url.path)
            #expect(attributes[.ownerAccountID] as? Int == owner, "\(path)")
        }
    }

    @Test func `what is restored is the owner's, links and directories too`() async throws {
        let stage = try Stage()
        try (stage.source / "Documents/dir").makeDirectory()
        try (stage.source / "Documents/dir/file").write("text")
        try (stage.source / "Documents/dir/link").makeSymbolicLink(to: "file")
        try (stage.source / "Documents/dir/hard").makeHardLink(
            to: stage.source / "Documents/dir/file"
        )
        let container = try MigrationDataContainer(
            atPath: stage.source,
            bundleIdentifier: Stage.identifier
        )
        let archive = ArchiveDestination.file(path: stage.archive, replacesExisting: true)
        _ = try await MigrationHost().export(container, to: archive)
        try stage.destination.makeDirectory()
        try give(stage.destination)
        _ = try await MigrationHost().import(
            .file(path: stage.archive),
            into: stage.container(at: stage.destination)
        )
        #expect(try stage.importedText("Documents/dir/hard") == "text")
        #expect(try owners(of: stage.destination) == [OtherUser.number])
    }

    @Test func `leaves out what the owner can't read, and reports it`() async throws {
        let stage = try Stage()
        try (stage.source / "Documents/own").write("own")
        try give(stage.source)
        try (stage.source / "Documents/open").write("root's, for all to read")
        for name in ["a", "b"] {
            try (stage.source / "Documents/\(name)").write("root's")
        }
        try (stage.source / "Documents/a").setMode(0o400)
        try (stage.source / "Documents/b").setMode(0o640)
        try (stage.source / "Documents/closed").makeDirectory()
        try (stage.source / "Documents/closed/file").write("within")
        try (stage.source / "Documents/closed").setMode(0o700)
        let container = try MigrationDataContainer(
            atPath: stage.source,
            bundleIdentifier: Stage.identifier
        )
        let archive = ArchiveDestination.file(path: stage.archive, replacesExisting: true)
        let report = try await MigrationHost().export(container, to: archive)
        let omissions = report.omissions.items.filter { $0.reason == .unreadableToOwner }
        #expect(
            omissions.map { "\($0.path) \($0.bytes)" } == [
                "Documents/a 6", "Documents/b 6", "Documents/closed 6",
            ]
        )
        let paths = try await stage.archivedPaths()
        #expect(Set(paths).isSuperset(of: ["Documents/own", "Documents/open"]))
        #expect(
            !paths.contains { ["Documents/a", "Documents/b", "Documents/closed"].contains($0) }
        )
        var strict = ExportOptions()
        strict.isStrict = true
        await #expect(throws: ArchiveError.self) {
            try await MigrationHost().export(container, to: archive, options: strict)
        }
    }

    @Test func `refuses by name a program that the owner can't read`() async throws {
        let stage = try Stage("append Documents as a")
        try give(stage.source)
        let shell = try stage.shell("exit 0")
        let program = stage.root / "program"
        try program.setMode(0o700)
        let error = try await stage.failure(of: shell)
        #expect(error.code == .extensionUnsuitable)
        #expect(error.path == program.url.path)
        #expect(error.message.contains("user \(OtherUser.number)"))
        try program.setMode(0o755)
        #expect(try await stage.failure(of: shell).code == .extensionCrashed)
        try stage.root.setMode(0o700)
        defer { try? stage.root.setMode(0o755) }
        #expect(try await stage.failure(of: shell).path == program.url.path)
    }
}
