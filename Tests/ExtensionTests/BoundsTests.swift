import Foundation
import MigrationHosting
import TestSupport
import Testing

/// Whether a sanitizer, which needs memory itself, is built into this process and the extension.
private let isSanitized =
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

/// The limits on what an extension's process can use of the machine.
@Suite(.scratchDirectory)
struct BoundsTests {
    /// A line of 36 characters.
    private static let line = "0123456789abcdefghijklmnopqrstuvwxyz"

    @Test func `shows a mebibyte of what is printed, and counts the rest`() async throws {
        let stage = try Stage("flood 100 \(Self.line)\nappend Documents as a")
        let lines = Lines()
        var scripted = stage.scripted()
        scripted.outputHandler = { lines.append($0) }
        try await stage.export(scripted)
        let shown = lines.all.filter { $0.hasPrefix("0123") }.reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(shown > 500_000)
        #expect(shown <= 1 << 20)
        let rest = 100 * 1000 * 37 - shown
        #expect(lines.all.last == "(\(rest) more bytes of output are not shown)")
        #expect(lines.all.count == shown / 37 + 1)
    }

    @Test func `shows a bounded number of empty lines`() async throws {
        let stage = try Stage("flood 40\nappend Documents as a")
        let lines = Lines()
        var scripted = stage.scripted()
        scripted.outputHandler = { lines.append($0) }
        try await stage.export(scripted)
        #expect(lines.all.count == (1 << 14) + 1)
        #expect(lines.all.last?.hasPrefix("(\(40_000 - (1 << 14)) more bytes") == true)
    }

    @Test func `still says what a crash printed last after too much was printed`() async throws {
        let stage = try Stage("flood 100 noise noise noise\ncrash of a mistake")
        let error = try await stage.failure(of: stage.scripted())
        #expect(error.code == .extensionCrashed)
        #expect(error.description.contains("of a mistake"))
    }

    @Test func `ends an export that fills its temporary directory`() async throws {
        let stage = try Stage("fill tmp:big 3000000\nsleep-on 600000\nappend Documents as a")
        var scripted = stage.scripted()
        scripted.temporarySpace = 1 << 20
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .limitExceeded)
        #expect(error.message.contains("1048576 bytes"))
        #expect(error.remedy == .allowMoreTemporarySpace)
        #expect(!stage.archive.exists)
        #expect(try stage.leftovers() == [])
    }

    @Test func `ends an extension that fills it and never waits`() async throws {
        let stage = try Stage("fill tmp:big 3000000\nappend-on")
        var scripted = stage.scripted()
        scripted.temporarySpace = 1 << 20
        let error = try await stage.failure(of: scripted)
        #expect(error.code == .limitExceeded)
    }

    @Test func `lets an extension have what it may`() async throws {
        let stage = try Stage("fill tmp:big 3000000\nappend tmp:big as big")
        var scripted = stage.scripted()
        scripted.temporarySpace = 4 << 20
        let report = try await stage.export(scripted)
        #expect(report.totals.contentBytes == 3_000_000)
    }

    @Test func `commits nothing of an import that left too much behind`() async throws {
        let stage = try Stage()
        try await stage.makeArchive("")
        var shell = try stage.shell(
            """
            \(ShellMessage.describingImport())
            head -c 3000000 /dev/zero > $TMPDIR/big
            \(ShellMessage.finishingImport)
            """
        )
        shell.temporarySpace = 1 << 20
        try stage.destination.makeDirectory()
        let hosted = shell
        let error = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(hosted)
        }
        #expect(error?.code == .limitExceeded)
        #expect(try stage.destination.names() == [".migration"])
    }

    @Test(.enabled(if: !isSanitized, "a sanitizer takes memory of its own"))
    func `ends an extension that takes more memory than it may`() async throws {
        let stage = try Stage("append Documents as a\ntake 1000000000\nappend Documents as b")
        try await stage.export(stage.scripted())
        try FileManager.default.removeItem(at: stage.archive.url)
        var scripted = stage.scripted()
        scripted.memoryLimit = 400 << 20
        let error = try await stage.failure(of: scripted)
        #expect([.limitExceeded, .extensionCrashed].contains(error.code))
        #expect(error.message.contains("419430400 bytes of memory"))
        #expect(error.remedy == .allowMoreMemory)
        #expect(!stage.archive.exists)
    }

    @Test(.enabled(if: !isSanitized, "a sanitizer takes memory of its own"))
    func `says what is bounded, and what is left open`() async throws {
        let stage = try Stage("append Documents as a")
        var scripted = stage.scripted()
        scripted.memoryLimit = 1 << 30
        let report = try #require(try await stage.export(scripted).appExtension?.confinement)
        #expect(report.bounds.first == "1.1 GB in its temporary directory")
        let memory = try #require(report.bounds.first { $0.contains("memory") })
        #expect(memory.hasPrefix("1.1 GB of memory"))
        let hasGroup = memory.hasSuffix("(cgroup)")
        #expect(hasGroup || memory.hasSuffix("for each process (rlimit)"))
        #expect(report.gaps.contains { $0.contains("all its processes together") } == !hasGroup)
        let isCounted = report.bounds.contains { $0.contains("processes and threads") }
        #expect(report.gaps.contains { $0.contains("number of its processes") } == !isCounted)
    }
}
