import Foundation
import Glibc
import MigrationArchive
import MigrationHosting
import TestSupport
import Testing

/// The contract's rules for exports (reference rules 4 and 8 to 20).
@Suite(.scratchDirectory)
struct ExportRuleTests {
    @Test(arguments: Hosting.allCases)
    func `rule 12: records the estimate that the extension gave before the export`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents/a as a")
        try (stage.source / "Documents/a").write("12345")
        try (stage.source / "settings/estimate").write("4321")
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.header.sizeEstimate == 4321)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 13: carries the version of the extension's format`(_ hosting: Hosting) async throws {
        let stage = try Stage("append Documents as Documents")
        try (stage.source / "settings/version").write("2.5")
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.header.resourcesVersion == "2.5")
    }

    @Test(arguments: Hosting.allCases, [8_192, 8_193, 70_000])
    func `rule 13: names an extension whose version is too long to be archived`(
        _ hosting: Hosting,
        _ size: Int
    ) async throws {
        let stage = try Stage("append Documents as Documents")
        let version = String(repeating: "\u{1}", count: size)
        try (stage.source / "settings/version").write(version)
        if size == 8_192 {
            let report = try await stage.export(stage.scripted(hosting))
            #expect(report.header.resourcesVersion == version)
        } else {
            let error = try await stage.failure(of: stage.scripted(hosting))
            #expect(error.code == .extensionUnsuitable)
            let text = "has a resourcesVersion of \(size) bytes; at most 8192 can be archived"
            #expect(error.message.hasSuffix(text))
            #expect(error.message.lowercased().hasPrefix("scripted"))
        }
    }

    @Test(arguments: Hosting.allCases, [true, false])
    func `rule 14: compresses only where the extension says that it is worth it`(
        _ hosting: Hosting,
        _ isCompressible: Bool
    ) async throws {
        let stage = try Stage("append Documents/zeros as zeros")
        try (stage.source / "Documents/zeros").write(String(repeating: "0", count: 200_000))
        if !isCompressible { try (stage.source / "settings/stored").write("") }
        let report = try await stage.export(stage.scripted(hosting))
        #expect(report.header.isCompressible == isCompressible)
        #expect((report.archiveBytes < 10_000) == isCompressible)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 16: takes the path in the archive as it is`(_ hosting: Hosting) async throws {
        let stage = try Stage(
            """
            append Documents/a as Caf\u{65}\u{301}/a
            append Documents/a as Caf\u{E9}/a
            append Documents/a
            append Documents/deep/
            """
        )
        try (stage.source / "Documents/a").write("a")
        try (stage.source / "Documents/deep").makeDirectory()
        try await stage.export(stage.scripted(hosting))
        let paths = try await stage.archivedPaths()
        let expected = ["Cafe\u{301}", "Cafe\u{301}/a", "Caf\u{E9}", "Caf\u{E9}/a", "a", "deep"]
        #expect(paths.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
    }

    @Test(arguments: Hosting.allCases)
    func `rule 18: passes the options of the request as they are`(_ hosting: Hosting) async throws {
        let stage = try Stage("notes tmp:notes\nappend tmp:notes as notes")
        var options = ExportOptions()
        options.destinationOptions = ["account": Data("a b".utf8), "theme": Data()]
        try await stage.export(stage.scripted(hosting), options: options)
        let notes = try await stage.archivedText("notes")
        #expect(notes.contains("option account a b\noption theme "))
    }

    @Test(arguments: Hosting.allCases)
    func `rule 18: refuses an option that the extension does not have`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents")
        var options = ExportOptions()
        options.destinationOptions = ["colour": Data()]
        let error = await #expect(throws: MigrationError.self) {
            try await stage.export(stage.scripted(hosting), options: options)
        }
        #expect(error?.code == .extensionUnsuitable)
        #expect(error?.message.contains("'colour'; it has: account, theme") ?? false)
        #expect(!stage.archive.exists)
    }

    @Test(arguments: Hosting.allCases)
    func `rule 20: tells the extension the platform of the destination`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("notes tmp:notes\nappend tmp:notes as notes")
        var options = ExportOptions()
        options.destinationPlatform = MigrationPlatform("plan9")
        try await stage.export(stage.scripted(hosting), options: options)
        #expect(try await stage.archivedText("notes").contains("platform plan9"))
    }

    @Test(arguments: Hosting.allCases)
    func `rule 9: refuses while another process holds the container`(
        _ hosting: Hosting
    ) async throws {
        let stage = try Stage("append Documents")
        let holder = try LockHolder(asAppOf: stage.source)
        defer { holder.release() }
        let error = await #expect(throws: MigrationError.self) {
            try await stage.export(stage.scripted(hosting))
        }
        #expect(error?.code == .containerBusy)
    }
}
