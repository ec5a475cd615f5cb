import Foundation
import MigrationArchive
import MigrationCore
import TestSupport
import Testing

/// Extracting a part of another program's archive.
@Suite(.scratchDirectory)
struct ForeignExtractionTests {
    private let places: Places

    init() throws {
        places = try Places()
    }

    @discardableResult
    private func extract(
        _ paths: String...,
        of blocks: [RawTar.Entry],
        _ externalLinks: ExternalLinkPolicy = .refuse
    ) async throws -> ImportReport {
        try places.archive.write(RawTar.archive(of: blocks))
        var options = ImportOptions()
        options.externalLinks = externalLinks
        return try await ArchiveSource.file(path: places.archive).extract(
            to: places.destination.url,
            only: paths.map { EntryPath($0) },
            options: options
        )
    }

    @Test func `follows hard links to hard links up to a bound`() async throws {
        let links = (1...10).map { RawTar.Entry.hardLink("h\($0)", "h\($0 - 1)") }
        let blocks = [.file("h0", "hi")] + links
        try await extract("h9", of: blocks)
        #expect(try (places.destination / "h9").contents() == Data("hi".utf8))
        let error = await #expect(throws: ArchiveError.self) {
            try await extract("h10", of: blocks)
        }
        #expect(error?.code == .refused)
    }

    @Test func `refuses a link that goes up from what does not stay`() async throws {
        let blocks: [RawTar.Entry] = [
            .link("l", "p/../x"), .directory("p"), .file("p/f", "hi"), .hardLink("h", "p/f"),
        ]
        try await extract(of: blocks)
        try FileManager.default.removeItem(at: places.destination.url)
        let error = await #expect(throws: ArchiveError.self) {
            try await extract("l", "h", of: blocks)
        }
        #expect(error?.code == .externalLink)
        #expect(error?.entry == EntryPath("l"))
    }

    @Test func `refuses a link that goes up from what is not selected`() async throws {
        let blocks: [RawTar.Entry] = [.directory("sel"), .link("t", "sel/../a")]
        try await extract("t", "sel", of: blocks)
        try FileManager.default.removeItem(at: places.destination.url)
        let error = await #expect(throws: ArchiveError.self) { try await extract("t", of: blocks) }
        #expect(error?.code == .externalLink)
    }

    @Test func `counts no link that is left out, or there for its names`() async throws {
        let blocks: [RawTar.Entry] = [
            .link("t", "gone/../x"), .hardLink("h", "t"), .file("f", "hi"),
        ]
        let report = try await extract("h", "f", of: blocks, .skip)
        #expect(try places.destination.names() == ["f"])
        #expect((report.totals.files, report.totals.symbolicLinks) == (1, 0))
        #expect(report.totals.hardLinks == 0)
        #expect(report.omissions.items.map(\.path) == ["h"])
    }

    @Test func `leaves no directory of what was left out`() async throws {
        let blocks: [RawTar.Entry] = [
            .link("c/b/a", "/o"), .hardLink("a/y", "c/b/a"), .file("a/z", "1"),
        ]
        try await extract("a", of: blocks, .skip)
        #expect(try places.destination.names() == ["a"])
    }

    @Test func `says which name no archive can have`() async throws {
        let error = await #expect(throws: MigrationError.self) {
            try await extract(of: [.directory(".migration-extracting"), .file("f", "hi")])
        }
        #expect(error?.code == .outputExists)
        #expect(error?.message == "the archive holds a name that extractions use themselves")
        #expect(!places.destination.exists)
    }
}
