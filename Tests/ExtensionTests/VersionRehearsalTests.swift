import Foundation
import MigrationHosting
import TestSupport
import Testing

/// Imports in a version that the extension can't know, to see whether it looks at the version.
@Suite(.scratchDirectory)
struct VersionRehearsalTests {
    private let stage: Stage

    init() throws {
        stage = try Stage("append Documents as files\nappend import as script")
        try (stage.source / "Documents/page").write("text")
    }

    private func preflight(
        importing script: String,
        _ hosting: Hosting,
        _ rehearsal: VersionRehearsal = VersionRehearsal(version: "99")
    ) async throws -> PreflightReport {
        try (stage.source / "import").write(script + "\nprogress 10 10")
        return try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: stage.scripted(hosting),
            versionRehearsal: rehearsal
        )
    }

    @Test(arguments: Hosting.allCases)
    func `versionIgnored: an import in any version succeeds`(_ hosting: Hosting) async throws {
        let report = try await preflight(importing: "move in:files Documents/files", hosting)
        #expect(report.findings.map(\.code) == [.versionIgnored])
        #expect(report.rehearsedVersion?.version == "99")
        #expect(report.rehearsedVersion?.isRefused == false)
        #expect(report.rehearsedVersion?.refusal == nil)
    }

    @Test(arguments: Hosting.allCases)
    func `an extension that refuses the version has none`(_ hosting: Hosting) async throws {
        let report = try await preflight(importing: "refuse-all-but 1.0", hosting)
        #expect(report.findings == [])
        #expect(report.rehearsedVersion?.isRefused == true)
        let refusal = try #require(report.rehearsedVersion?.refusal)
        #expect(!refusal.isEmpty)
    }

    @Test(arguments: Hosting.allCases)
    func `touches neither the container nor its groups, and keeps nothing`(
        _ hosting: Hosting
    ) async throws {
        let group = try stage.makeGroup()
        try (group / "old").write("old")
        try (stage.source / "import").write("write group:shared/new n\nremove in:files")
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let before = try FileManager.default.subpathsOfDirectory(atPath: stage.source.url.path)
        let report = try await MigrationHost().preflight(
            stage.container(at: stage.source),
            using: scripted,
            versionRehearsal: VersionRehearsal(version: "99")
        )
        #expect(report.rehearsedVersion?.isRefused == false)
        #expect(try group.names() == ["old"])
        let after = try FileManager.default.subpathsOfDirectory(atPath: stage.source.url.path)
        #expect(Set(after) == Set(before))
        #expect(try stage.leftovers() == [])
    }

    @Test(arguments: Hosting.allCases)
    func `shows nothing where the import fails in its own version too`(
        _ hosting: Hosting
    ) async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await preflight(importing: "throw domain 1 never", hosting)
        }
        #expect(error?.code == .extensionFailed)
        #expect(error?.message.contains("in its own version too") ?? false)
    }

    @Test(arguments: Hosting.allCases)
    func `refuses to rehearse the archive's own version`(_ hosting: Hosting) async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await preflight(
                importing: "progress 1 10",
                hosting,
                VersionRehearsal(version: "1.0")
            )
        }
        #expect(error?.code == .invalidOption)
    }

    @Test(arguments: Hosting.allCases)
    func `takes an archive, and what is said of its source`(_ hosting: Hosting) async throws {
        try await stage.makeArchive("refuse-all-but 7\nnotes Documents/notes\nprogress 10 10")
        var rehearsal = VersionRehearsal(version: "8")
        rehearsal.archive = .file(path: stage.archive)
        rehearsal.source.version = "7"
        let report = try await preflight(importing: "", hosting, rehearsal)
        #expect(report.rehearsedVersion?.isRefused == true)
        #expect(report.findings == [])
    }
}
