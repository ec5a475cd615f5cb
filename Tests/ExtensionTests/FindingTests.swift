import Foundation
import MigrationHosting
import TestSupport
import Testing

/// The mistakes that a session finds by itself, each once made and once not.
@Suite(.scratchDirectory)
struct FindingTests {
    @Test(
        arguments: Hosting.allCases,
        [(100, false), (80, false), (120, false), (79, true), (121, true)]
    )
    func `estimateOff: an estimate that is off by more than a fifth`(
        _ hosting: Hosting,
        _ estimate: (said: Int, isFound: Bool)
    ) async throws {
        let stage = try Stage("append Documents/a as a")
        try (stage.source / "Documents/a").write(String(repeating: "a", count: 100))
        try (stage.source / "settings/estimate").write("\(estimate.said)")
        let codes = try await Self.codes(stage.export(stage.scripted(hosting)))
        #expect(codes == (estimate.isFound ? [.estimateOff] : []))
    }

    @Test(
        arguments: Hosting.allCases,
        [
            (8192 + 100, "the difference is 2 times 4096, the size of a directory on Linux"),
            (8192 + 101, nil), (3 * 4096 + 100, nil),
        ]
    )
    func `estimateOff: names directories that were counted as files`(
        _ hosting: Hosting,
        _ estimate: (said: Int, cause: String?)
    ) async throws {
        let stage = try Stage("append Documents\nappend Library")
        try (stage.source / "Documents/a").write(String(repeating: "a", count: 100))
        try (stage.source / "settings/estimate").write("\(estimate.said)")
        let report = try await stage.export(stage.scripted(hosting))
        let finding = try #require(report.appExtension?.findings.first)
        #expect(finding.code == .estimateOff)
        #expect(finding.message.contains("the difference") == (estimate.cause != nil))
        #expect(estimate.cause.map { finding.message.contains($0) } ?? true)
    }

    @Test(arguments: Hosting.allCases)
    func `estimateOff: names options that the estimate can't see`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents/a as a")
        try (stage.source / "Documents/a").write(String(repeating: "a", count: 100))
        var options = ExportOptions()
        options.destinationOptions = ["theme": Data("dark".utf8)]
        let report = try await stage.export(stage.scripted(hosting), options: options)
        let finding = try #require(report.appExtension?.findings.first)
        #expect(finding.code == .estimateOff)
        #expect(finding.message.hasSuffix("options that no estimate can know: theme"))
    }

    @Test(
        arguments: Hosting.allCases,
        [("größe as gr%C3%B6%C3%9Fe", true), ("größe as größe", false), ("a%20b as a%20b", false)]
    )
    func `nameEncoded: a name in the archive as a URL spells it`(
        _ hosting: Hosting,
        _ append: (line: String, isFound: Bool)
    ) async throws {
        let stage = try Stage("append Documents/\(append.line)")
        try (stage.source / "Documents/größe").write("")
        try (stage.source / "Documents/a%20b").write("")
        let report = try await stage.export(stage.scripted(hosting))
        let findings = try #require(report.appExtension?.findings)
        #expect(findings.map(\.code) == (append.isFound ? [.nameEncoded] : []))
        #expect(!append.isFound || findings.first?.message.contains("gr%C3%B6%C3%9Fe") == true)
    }

    @Test(
        arguments: Hosting.allCases,
        [
            ("relative:note", "Documents/note does: make the URL with appending(path:)"),
            ("encoded:größe", "Documents/größe does: use path(percentEncoded: false)"),
        ]
    )
    func `sourceMisnamed: an item whose URL names another`(
        _ hosting: Hosting,
        _ append: (source: String, advice: String)
    ) async throws {
        let stage = try Stage("try-append \(append.source) as a\nappend Documents", beneath: "a b")
        try (stage.source / "Documents/note").write("")
        try (stage.source / "Documents/größe").write("")
        let report = try await stage.export(stage.scripted(hosting))
        let finding = try #require(report.appExtension?.findings.first)
        #expect(finding.code == .sourceMisnamed)
        #expect(finding.message.contains(append.advice))
        try (stage.source / "script").write("append \(append.source) as a")
        let error = try await stage.failure(of: stage.scripted(hosting))
        #expect("\(error)".contains(append.advice))
    }

    @Test(
        arguments: Hosting.allCases,
        [("", true), (" \n", true), ("0", false), (" 1", false)]
    )
    func `versionEmpty: a version that tells nothing`(
        _ hosting: Hosting,
        _ version: (text: String, isFound: Bool)
    ) async throws {
        let stage = try Stage("append Documents as a")
        try (stage.source / "settings/version").write(version.text)
        let expected: [ExtensionFinding.Code] = version.isFound ? [.versionEmpty] : []
        #expect(try await Self.codes(stage.export(stage.scripted(hosting))) == expected)
        let report = try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: stage.scripted(hosting)
        )
        #expect(report.findings.map(\.code) == expected)
    }

    @Test(arguments: Hosting.allCases)
    func `appendGap: a wait of over a third of the hang timeout`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents as a\nsleep-on 2200\nappend Documents as b")
        var scripted = stage.scripted(hosting)
        scripted.hangTimeout = .seconds(6)
        #expect(try await Self.codes(stage.export(scripted)) == [.appendGap])
        scripted.hangTimeout = .seconds(30)
        #expect(try await Self.codes(stage.export(scripted)) == [])
    }

    @Test(arguments: Hosting.allCases)
    func `nothingExported: an extension that appends nothing`(_ hosting: Hosting) async throws {
        let stage = try Stage("sleep 1")
        #expect(try await Self.codes(stage.export(stage.scripted(hosting))) == [.nothingExported])
    }

    @Test(arguments: Hosting.allCases, [(1_048_576, false), (1_048_577, true)])
    func `rule 8, convertedCopy: a large item from the temporary directory`(
        _ hosting: Hosting,
        _ copy: (size: Int, isFound: Bool)
    ) async throws {
        let stage = try Stage("fill tmp:copy \(copy.size)\nappend tmp:copy as copy")
        try (stage.source / "settings/estimate").write("\(copy.size)")
        let codes = try await Self.codes(stage.export(stage.scripted(hosting)))
        #expect(codes == (copy.isFound ? [.convertedCopy] : []))
    }

    @Test(arguments: Hosting.allCases)
    func `progressNotKept: a new object at each reading`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive("new-progress")
        let codes = try await Self.codes(stage.importArchive(stage.scripted(hosting)))
        #expect(codes.contains(.progressNotKept))
    }

    @Test(
        arguments: Hosting.allCases,
        [
            ("progress 10 10", [ExtensionFinding.Code]()),
            ("sleep 1", [.progressStill]),
            ("progress 9 10", [.progressIncomplete]),
        ]
    )
    func `progressStill and progressIncomplete: a progress that does not tell`(
        _ hosting: Hosting,
        _ script: (text: String, expected: [ExtensionFinding.Code])
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive(script.text)
        let codes = try await Self.codes(stage.importArchive(stage.scripted(hosting)))
        #expect(codes == script.expected)
    }

    @Test(arguments: Hosting.allCases)
    func `resourcesUnread: files that were left and never read`(_ hosting: Hosting) async throws {
        let stage = try Stage()
        try await stage.makeArchive(
            "read in:read\nmove in:moved Documents/moved\nprogress 10 10",
            files: ["read": "r", "moved": "m", "left": "l"]
        )
        let report = try await stage.importArchive(stage.scripted(hosting))
        let finding = try #require(report.appExtension?.findings.first)
        #expect(finding.code == .resourcesUnread)
        #expect(finding.message == "1 files of the import were never read: left")
    }

    @Test(
        arguments: Hosting.allCases,
        [
            "move in:a Documents/a\nremove in:",
            "move in: Documents/all\nmove Documents/all/a Documents/a",
        ]
    )
    func `lets an extension tidy its import directory away`(
        _ hosting: Hosting,
        _ script: String
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("\(script)\nprogress 10 10", files: ["a": "a", "b": "b"])
        let codes = try await Self.codes(stage.importArchive(stage.scripted(hosting)))
        #expect(codes == [])
        #expect(try stage.importedText("Documents/a") == "a")
        let kept = try (stage.destination / ".migration").names()
        #expect(kept == ["identity.json", "import-status.json"])
    }

    @Test(arguments: Hosting.allCases, [true, false])
    func `groupNotCleared: a group that was written to and holds older files`(
        _ hosting: Hosting,
        _ isCleared: Bool
    ) async throws {
        let stage = try Stage()
        let clearing = isCleared ? "remove group:shared/old\n" : ""
        try await stage.makeArchive(clearing + "write group:shared/new n\nprogress 10 10")
        let group = try stage.makeGroup()
        try (group / "old").write("old")
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let codes = try await Self.codes(stage.importArchive(scripted))
        #expect(codes == (isCleared ? [] : [.groupNotCleared]))
    }

    @Test(arguments: Hosting.allCases, [true, false])
    func `cancellationSwallowed: a rehearsed cancellation that is caught`(
        _ hosting: Hosting,
        _ isCaught: Bool
    ) async throws {
        let command = isCaught ? "try-append" : "append"
        let stage = try Stage("\(command) Documents as a\n\(command) Documents as b")
        let report = try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: stage.scripted(hosting),
            rehearsesCancellation: true
        )
        #expect(report.findings.map(\.code) == (isCaught ? [.cancellationSwallowed] : []))
        #expect(report.name.lowercased().contains("scripted"))
    }

    private static func codes(_ report: ExportReport) -> [ExtensionFinding.Code] {
        report.appExtension?.findings.map(\.code) ?? []
    }

    private static func codes(_ report: ImportReport) -> [ExtensionFinding.Code] {
        report.appExtension?.findings.map(\.code) ?? []
    }
}
