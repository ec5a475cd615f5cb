import AppMigrationKit
import ExtensionFoundation
import Foundation
import Glibc
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

/// The contract's rules for the extension itself (reference rules 4 to 10).
@Suite(.scratchDirectory)
struct ExtensionRuleTests {
    @Test func `rule 4: does nothing for an extension of the base protocol alone`() async throws {
        let stage = try Stage()
        let error = try await stage.failure(of: .inProcess(BareExtension()))
        #expect(error.code == .extensionUnsuitable)
        #expect(error.message == "BareExtension does not conform to ResourcesExporting")
        try await stage.makeArchive("")
        let importing = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(.inProcess(BareExtension()))
        }
        #expect(importing?.message == "BareExtension does not conform to ResourcesImporting")
        #expect(try stage.leftovers() == [])
    }

    @Test func `rule 4: tells by its conformances what an extension can do`() async throws {
        let stage = try Stage()
        let container = try stage.container(at: stage.source)
        let bare = try await MigrationHost().preflight(
            container,
            using: .inProcess(BareExtension())
        )
        #expect(bare.exports == nil)
        #expect(!bare.imports)
        let both = try await MigrationHost().preflight(container, using: stage.scripted())
        #expect(both.exports?.options == ["account", "theme"])
        #expect(both.imports)
    }

    @Test(arguments: Hosting.allCases)
    func `rules 6 and 7: gives the app's container and its directories`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("describe\nnotes tmp:notes\nappend tmp:notes as notes")
        try await stage.export(stage.scripted(hosting))
        let root = stage.source.url.resolvingSymlinksInPath().path
        let lines = try await stage.archivedText("notes").split(separator: "\n").map(String.init)
        #expect(
            lines.suffix(4) == [
                "identifier \(Stage.identifier)", "root \(root)", "documents \(root)/Documents",
                "support \(root)/Library/Application Support",
            ]
        )
    }

    @Test(arguments: Hosting.allCases)
    func `rule 9: lets no app start while the extension exports`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage(Stage.appendingAtOnce + "append Documents as a\nwait settings/go")
        try stage.makeDocument()
        let progress = Progress(totalUnitCount: -1)
        let task = Task { try await stage.export(stage.scripted(hosting), progress: progress) }
        try await stage.waitForAppend(progress)
        #expect(throws: CallFailure.self) { try LockHolder(asAppOf: stage.source) }
        try (stage.source / "settings/go").write("")
        _ = try await task.value
        #expect(throws: Never.self) { try LockHolder(asAppOf: stage.source) }
    }

    @Test(arguments: Hosting.allCases)
    func `rule 5: lets no app start while the extension imports`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage()
        try await stage.makeArchive("write group:shared/begun yes\nwait group:shared/go")
        let group = try stage.makeGroup()
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": group.url]
        let hosted = scripted
        let task = Task { try await stage.importArchive(hosted) }
        while !(group / "begun").exists { try await Task.sleep(for: .milliseconds(5)) }
        #expect(throws: CallFailure.self) { try LockHolder(asAppOf: stage.destination) }
        try (group / "go").write("")
        _ = try await task.value
        #expect(throws: Never.self) { try LockHolder(asAppOf: stage.destination) }
    }

    @Test(arguments: Hosting.allCases, ["/Documents", "", "/.."])
    func `refuses an app group that is not apart from the container`(
        _ hosting: Hosting,
        _ place: String
    ) async throws {
        let stage = try Stage("append Documents as a")
        try await stage.makeArchive("write group:shared/new new")
        try stage.declareGroups(["shared"])
        try stage.destination.makeDirectory()
        try (stage.destination / "Documents").makeDirectory()
        var scripted = stage.scripted(hosting)
        scripted.applicationGroups = ["shared": URL(filePath: stage.destination.url.path + place)]
        let importing = scripted
        let imported = await #expect(throws: MigrationError.self) {
            try await stage.importArchive(importing)
        }
        #expect(imported?.code == .invalidOption)
        #expect(try stage.destination.names() == ["Documents"])
        scripted.applicationGroups = ["shared": URL(filePath: stage.source.url.path + place)]
        let exported = try await stage.failure(of: scripted)
        #expect(exported.code == .invalidOption)
        let message = "the directory of the app group shared overlaps with the container"
        #expect(exported.message == message)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 10: compresses and archives a file of two names once`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents")
        try (stage.source / "Documents/a").write(String(repeating: "a", count: 300_000))
        try (stage.source / "Documents/b").makeHardLink(to: stage.source / "Documents/a")
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.totals.contentBytes == 300_000)
        #expect(report.totals.hardLinks == 1)
        #expect(report.archiveBytes < 5_000)
    }
}

private struct BareExtension: AppMigrationExtension {}
