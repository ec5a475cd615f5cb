import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// The fingerprint depends only on the data.
@Suite(.scratchDirectory)
struct FingerprintTests {
    private static let items = [
        Item(.directory("Documents", time: FileTime(seconds: 1_700_000_001, nanoseconds: 2))),
        Item("Documents/letter.txt", [UInt8]("Dear reader\n".utf8)),
        Item(.symbolicLink("Documents/newest", to: "letter.txt")),
        Item(.hardLink("Documents/other", to: "Documents/letter.txt")),
        Item("empty", []),
    ]

    /// Changes only with the format, whose version then changes too.
    private static let golden =
        "c7fbb17a08e604c42e85374766be8685c1019d0b639ecddf6510961ac89cbfe8"

    /// A file that an earlier version of the program wrote.
    private static func stored(_ name: String) throws -> [UInt8] {
        let directory = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fixtures/Archives").standardizedFileURL
        return [UInt8](try Data(contentsOf: directory.appending(path: name)))
    }

    private static func header(
        bundleIdentifier: String = "org.example.notes",
        platform: String = "linux",
        resourcesVersion: String = "1",
        sizeEstimate: UInt64 = 0,
        isCompressible: Bool = true,
        creator: String = "tests",
        importers: [String]? = nil
    ) -> ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: bundleIdentifier,
            platform: platform,
            resourcesVersion: resourcesVersion,
            sizeEstimate: sizeEstimate,
            isCompressible: isCompressible,
            creator: creator,
            importers: importers
        )
    }

    private func fingerprint(
        _ items: [Item] = items,
        header: ArchiveHeader = header(),
        threadCount: Int = 2,
        level: Int = 3
    ) throws -> String? {
        let archive = try TestArchive(
            items,
            header: header,
            threadCount: threadCount,
            level: level
        )
        #expect(try archive.verify().fingerprint == archive.summary?.fingerprint)
        return archive.summary?.fingerprint.description
    }

    @Test func `of a fixed tree is always the same`() throws {
        #expect(try fingerprint() == Self.golden)
    }

    @Test func `does not depend on how the archive was made`() throws {
        let long = Self.items + [Item("long", text(9_000_000)), Item("noise", noise(5_000_000))]
        let expected = try fingerprint(long)
        for level in [1, 9, 19] { #expect(try fingerprint(long, level: level) == expected) }
        for threadCount in [1, 4] {
            #expect(try fingerprint(long, threadCount: threadCount) == expected)
        }
        let creator = String(repeating: "another program ", count: 100)
        for header in [
            Self.header(isCompressible: false), Self.header(sizeEstimate: 77),
            Self.header(creator: creator),
        ] {
            #expect(try fingerprint(long, header: header) == expected)
        }
    }

    @Test func `depends on everything that describes the data`() throws {
        var found: Set<String?> = [Self.golden]
        for header in [
            Self.header(bundleIdentifier: "org.example.others"), Self.header(platform: "iOS"),
            Self.header(resourcesVersion: "2"), Self.header(importers: ["T.org.example.notes"]),
        ] {
            #expect(found.insert(try fingerprint(header: header)).inserted)
        }
        let changes: [(position: Int, item: Item)] = [
            (0, Item(.directory("Documents", time: FileTime(seconds: 1_700_000_001)))),
            (1, Item("Documents/letter.txt", [UInt8]("Dear readers".utf8))),
            (2, Item(.symbolicLink("Documents/newest", to: "letter"))),
            (3, Item("Documents/other", [UInt8]("Dear reader\n".utf8))),
            (4, Item(.file("empty", permissions: 0o600))), (4, Item("emptier", [])),
        ]
        for (position, item) in changes {
            var items = Self.items
            items[position] = item
            #expect(found.insert(try fingerprint(items)).inserted, "\(item.entry)")
        }
        #expect(found.insert(try fingerprint(Self.items.dropLast())).inserted)
    }

    @Test func `is computed without an archive`() throws {
        let writer = try ArchiveWriter(
            writingTo: nil,
            header: Self.header(),
            level: 3,
            on: MigrationOperation(threadCount: 2)
        )
        for item in Self.items {
            if item.content.isEmpty {
                try writer.append(item.entry)
            } else {
                try writer.append(item.entry, content: item.content.span)
            }
        }
        let summary = try writer.finish()
        #expect(summary.fingerprint.description == Self.golden)
        #expect((summary.archiveBytes, summary.totals.entries) == (0, 5))
    }

    @Test func `is read back from its digits`() throws {
        let fingerprint = try #require(Fingerprint(Self.golden))
        #expect(fingerprint.description == Self.golden)
        #expect(Fingerprint(Self.golden.uppercased()) == fingerprint)
        let short = String(Self.golden.dropLast())
        for text in ["", short, short + "g", short + "é", Self.golden + "0"] {
            #expect(Fingerprint(text) == nil)
        }
    }

    /// The layout of a whole archive; changing it needs another version of the format.
    @Test func `of an archive's bytes is always the same where nothing is compressed`() throws {
        let archive = try TestArchive(Self.items, header: Self.header(isCompressible: false))
        #expect(archive.bytes == (try Self.stored("format-2.tar.zst")))
    }

    @Test func `of an archive that lies there for long is read as it was written`() throws {
        let archive = TestArchive(bytes: try Self.stored("format-2.tar.zst"))
        for route in TestArchive.Route.allCases {
            let reader = try archive.reader(route)
            #expect(try reader.items() == Self.items)
            #expect(reader.fingerprint?.description == Self.golden)
        }
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `of a pre-release's archive is not read`(_ route: TestArchive.Route) throws {
        let archive = TestArchive(bytes: try Self.stored("pre-release.tar.zst"))
        for check in [{ _ = try archive.items(route) }, { _ = try archive.verify(route) }] {
            let error = #expect(throws: ArchiveError.self) { try check() }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("a pre-release of format 2") == true)
        }
    }
}
