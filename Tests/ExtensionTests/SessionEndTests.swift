import Foundation
import MigrationArchive
import MigrationHosting
import TestSupport
import Testing

/// Sessions that fail: nothing is kept, nothing is left running (reference rules 11, 17).
@Suite(.scratchDirectory)
struct SessionEndTests {
    @Test(arguments: Hosting.allCases)
    func `rule 11: ends an extension that hangs, and keeps nothing`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents as a\nsleep-on 3000\nappend Documents as b")
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .milliseconds(300)
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .extensionHung)
        #expect(error.message.contains("300"))
        #expect(!stage.archive.exists)
        #expect(try stage.leftovers() == [])
    }

    @Test func `rule 11: ends an extension that hangs after a byte out of band`() async throws {
        let stage = try Stage("out-of-band\nsleep-on 10000")
        var scripted = stage.scripted()
        scripted.hangTimeout = .milliseconds(300)
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .extensionHung)
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 11: ends an extension whose appends all fail`(_ hosting: Hosting) async throws {
        let stage = try Stage("reject-on")
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .milliseconds(500)
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .extensionHung)
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 11: lets an extension live that appends steadily`(
        _ hosting: Hosting
    ) async throws {
        let lines = (0..<5).map { "append Documents as \($0)\nsleep-on 1000" }
        let stage = try Stage(lines.joined(separator: "\n"))
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .seconds(4)
        let report = try await stage.export(scripted)
        #expect(report.totals.directories == 5)
    }

    @Test(arguments: Hosting.allCases)
    func `ends an import whose progress does not move`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("sleep-on 20000")
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .milliseconds(300)
        try stage.destination.makeDirectory()
        let hosted = scripted
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(hosted)
        }
        #expect(error?.code == .extensionHung)
        #expect(try stage.destination.names() == [".migration"])
    }

    @Test(arguments: Hosting.allCases)
    func `rule 17: throws a cancellation from the archiver, which the extension lets pass`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(Stage.appendingAtOnce + "append-on")
        try stage.makeDocument()
        let progress = Progress(totalUnitCount: -1)
        let task = Task { try await stage.export(stage.scripted(hosting), progress: progress) }
        try await stage.waitForAppend(progress)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!stage.archive.exists)
        #expect(try stage.leftovers() == [])
    }

    @Test(arguments: Hosting.allCases)
    func `rule 17: names an extension that swallows the cancellation`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(Stage.appendingAtOnce + "append-until-caught")
        try stage.makeDocument()
        let progress = Progress(totalUnitCount: -1)
        let task = Task { try await stage.export(stage.scripted(hosting), progress: progress) }
        try await stage.waitForAppend(progress)
        task.cancel()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancellationIgnored)
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 17: ends an extension that is still there after the grace period`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(
            Stage.appendingAtOnce + "append Documents as a\nsleep-on 600000"
        )
        var scripted = stage.scripted(hosting)
        scripted.gracePeriod = .milliseconds(200)
        let hosted = scripted
        try stage.makeDocument()
        let progress = Progress(totalUnitCount: -1)
        let task = Task { try await stage.export(hosted, progress: progress) }
        try await stage.waitForAppend(progress)
        task.cancel()
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancellationIgnored)
        #expect(!stage.archive.exists)
    }

    @Test(arguments: [
        ("exit 3", "with code 3"),
        ("kill 9", "signal 9 (Killed)"),
        ("print one\nprint two\ncrash of a mistake", "of a mistake"),
        ("exit 0", "with code 0"),
    ])
    func `says how the extension's process ended, and what it printed last`(
        _ script: String,
        _ expected: String
    ) async throws {
        let stage = try Stage("append Documents as a\n\(script)")
        let error = try await stage.failure(of: stage.scripted())
        #expect(error.code == .extensionCrashed)
        #expect(error.description.contains(expected))
        if script.contains("print") {
            #expect(error.printedLines.starts(with: ["one", "two"]))
            #expect(error.description.contains("; it printed last:\none\ntwo\n"))
            #expect(!error.message.contains("one"))
        }
        #expect(!stage.archive.exists)
        #expect(try stage.leftovers() == [])
    }

    @Test
    func `a crash during an import is persisted as the failure`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("write Documents/half half\nkill 6")
        try stage.destination.makeDirectory()
        _ = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(stage.scripted())
        }
        #expect(try stage.destination.names() == [".migration"])
        guard
            case .failure(let recorded)? =
                try stage.container(at: stage.destination).importRecord()?.outcome
        else {
            Issue.record("no failure was persisted")
            return
        }
        #expect(recorded.domain == MigrationError.errorDomain)
        #expect(recorded.description.contains("signal 6"))
    }

    @Test
    func `nothing that the extension started survives it`() async throws {
        let marker = "8\(Int.random(in: 100_000...999_999))"
        let stage = try Stage("append Documents as a\ndaemon \(marker)\nappend Documents as b")
        var scripted = stage.scripted()
        scripted.confinement = .none
        try await stage.export(scripted)
        #expect(try Self.processes(named: marker) == [])
        try (stage.source / "script").write("daemon \(marker)\nsleep-on 3000")
        scripted.hangTimeout = .milliseconds(300)
        _ = try await stage.failure(of: scripted)
        #expect(try Self.processes(named: marker) == [])
    }

    @Test
    func `keeps nothing where something that the extension started may still run`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("write Documents/new new\nattempt end-supervisor")
        try stage.destination.makeDirectory()
        var scripted = stage.scripted()
        scripted.confinement = .none
        let hosted = scripted
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(hosted)
        }
        #expect(error?.code == .sessionFailed)
        #expect(error?.message.contains("may still run") == true)
        #expect(try stage.destination.names() == [".migration"])
    }

    @Test
    func `passes on what the extension prints`() async throws {
        let stage = try Stage("print first line\nappend Documents as a\nprint second")
        let lines = Lines()
        var scripted = stage.scripted()
        scripted.outputHandler = { lines.append($0) }
        try await stage.export(scripted)
        #expect(lines.all == ["first line", "second"])
    }

    private static func processes(named marker: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil else { return false }
            let text = try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8)
            return text?.contains(marker) ?? false
        }
    }
}
