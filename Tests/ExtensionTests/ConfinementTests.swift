import Foundation
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// Things that an extension's process can't do, although it tries.
@Suite(.scratchDirectory, .enabled(if: Sandbox.support.isFull, "this kernel can't confine"))
struct ConfinementTests {
    /// Expects a note in which `denied` stands for any denial: by Landlock, by a read-only mount,
    /// or by a root that shows only what the extension may reach.
    private func expect(
        _ note: Substring?,
        _ expected: String,
        location: SourceLocation = #_sourceLocation
    ) {
        let outcomes = ["EACCES", "EROFS", "ENOENT"].map {
            expected.hasSuffix(" denied") ? expected.dropLast("denied".count) + $0 : expected[...]
        }
        #expect(outcomes.contains { note == $0 }, sourceLocation: location)
    }

    @Test(arguments: [
        ("read /etc/passwd", "denied"),
        ("read ROOT/other/secret", "denied"),
        ("attempt list ROOT/other", "denied"),
        ("attempt list ROOT", "denied"),
        ("attempt write ROOT/outside", "denied"),
        ("attempt write Documents/new", "denied"),
        ("attempt connect", "EPERM"),
        ("attempt write tmp:inside", "done"),
        ("read Documents/own", "done"),
    ])
    func `an export reads the container, writes its temporary directory, and no more`(
        _ command: String,
        _ expected: String
    ) async throws {
        let stage = try Stage()
        let other = stage.root / "other"
        try other.makeDirectory()
        try (other / "secret").write("secret")
        try (stage.source / "Documents/own").write("own")
        let line = command.replacing("ROOT", with: stage.root.url.path)
        try (stage.source / "script").write("\(line)\nnotes tmp:notes\nappend tmp:notes as notes")
        let report = try await stage.export(stage.scripted())
        let notes = try await stage.archivedText("notes").split(separator: "\n")
        expect(notes.last, "\(line) \(expected)")
        #expect(report.appExtension?.confinement.isConfined == true)
        #expect(!(stage.root / "outside").exists)
    }

    @Test(arguments: [
        ("read /etc/passwd", "denied"),
        ("attempt list ROOT", "denied"),
        ("attempt write ROOT/outside", "denied"),
        ("attempt connect", "EPERM"),
        ("attempt write Documents/new", "done"),
        ("attempt write in:new", "done"),
        ("attempt write group:shared/new", "done"),
    ])
    func `an import writes its container and its groups, and no more`(
        _ command: String,
        _ expected: String
    ) async throws {
        let stage = try Stage()
        let line = command.replacing("ROOT", with: stage.root.url.path)
        try await stage.makeArchive("\(line)\nnotes Documents/notes")
        let group = try stage.makeGroup()
        var scripted = stage.scripted()
        scripted.applicationGroups = ["shared": group.url]
        try await stage.importArchive(scripted)
        let notes = try stage.importedText("Documents/notes").split(separator: "\n")
        expect(notes.last, "\(line) \(expected)")
        #expect(!(stage.root / "outside").exists)
    }

    @Test(.enabled(if: Sandbox.support.landlockVersion >= 6, "this kernel doesn't scope signals"))
    func `signals no process outside`() async throws {
        let stage = try Stage()
        let own = ProcessInfo.processInfo.processIdentifier
        try (stage.source / "script").write(
            "attempt signal \(own)\nnotes tmp:notes\nappend tmp:notes as notes"
        )
        try await stage.export(stage.scripted())
        let notes = try await stage.archivedText("notes").split(separator: "\n")
        #expect(notes.last == "attempt signal \(own) EPERM")
    }

    @Test func `reads an app group during an export, and does not write it`() async throws {
        let stage = try Stage(
            """
            attempt write group:shared/new
            append group:shared/old as old
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        let group = try stage.makeGroup()
        try (group / "old").write("old")
        var scripted = stage.scripted()
        scripted.applicationGroups = ["shared": group.url]
        try await stage.export(scripted)
        #expect(try await stage.archivedText("old") == "old")
        let notes = try await stage.archivedText("notes").split(separator: "\n")
        expect(notes.last, "attempt write group:shared/new denied")
    }

    @Test func `says that nothing confines an extension that asked for it`() async throws {
        let stage = try Stage("read /etc/passwd\nnotes tmp:notes\nappend tmp:notes as notes")
        var scripted = stage.scripted()
        scripted.confinement = .none
        let report = try await stage.export(scripted)
        let confinement = try #require(report.appExtension?.confinement)
        #expect(!confinement.isConfined)
        #expect(confinement.gaps == ["everything: no confinement was requested"])
        #expect(try await stage.archivedText("notes").hasSuffix("read /etc/passwd done"))
    }

    @Test func `lists what stays open`() async throws {
        let stage = try Stage("append Documents as a")
        let report = try await stage.export(stage.scripted())
        let confinement = try #require(report.appExtension?.confinement)
        let gaps = confinement.gaps
        #expect(gaps.contains { $0.contains("stat") } != confinement.hidesOtherFiles)
        #expect(gaps.contains { $0.contains("chmod") } != confinement.hidesOtherFiles)
        #expect(gaps.contains { $0.contains("/proc") })
    }

    @Test func `gives no environment of the host but what a program needs`() async throws {
        let stage = try Stage("read /proc/self/environ\nappend Documents as a")
        let lines = Lines()
        var shell = try stage.shell("env")
        shell.outputHandler = { lines.append($0) }
        _ = try await stage.failure(of: shell)
        let names = Set(lines.all.compactMap { $0.split(separator: "=").first.map(String.init) })
        let known: Set = [
            "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LD_LIBRARY_PATH", "PATH", "PWD",
            "MIGRATION_SESSION", "SWIFT_BACKTRACE", "TMPDIR", "TZ", "ASAN_OPTIONS",
            "LLVM_PROFILE_FILE", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "_", "OLDPWD",
            "SHLVL",
        ]
        #expect(names.contains("MIGRATION_SESSION"))
        #expect(names.subtracting(known) == [])
    }
}

extension Sandbox.Support {
    /// Whether both files and system calls can be confined.
    fileprivate var isFull: Bool { landlockVersion > 0 && filtersSystemCalls }
}
