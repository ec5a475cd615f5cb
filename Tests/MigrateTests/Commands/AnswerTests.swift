import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationCore
@testable import MigrationReports
@testable import migrate

struct AnswerTests {
    private static let header = ArchiveHeader(
        bundleIdentifier: "com.example.notes",
        platform: "iOS",
        resourcesVersion: "1.0",
        sizeEstimate: 84_200_000,
        isCompressible: true,
        creator: "migrate 0.1.0"
    )

    private static var totals: ArchiveTotals {
        var totals = ArchiveTotals()
        totals.files = 1204
        totals.directories = 87
        totals.symbolicLinks = 10
        totals.hardLinks = 2
        totals.contentBytes = 84_200_000
        totals.dataBytes = 84_000_000
        return totals
    }

    private static func omissions(_ count: Int) throws -> OmissionList {
        var list = OmissionList()
        for number in 0..<count {
            let json = #"{"path":"tmp/\#(number)","reason":"leftOutByDefault","bytes":1500}"#
            list.append(try JSONDecoder().decode(Omission.self, from: Data(json.utf8)))
        }
        return list
    }

    static func export(omitting count: Int) throws -> ExportAnswer {
        ExportAnswer(
            ArchiveName("notes.tar.zst"),
            report: ExportReport(
                header: header,
                totals: totals,
                archiveBytes: 31_000_000,
                streamBytes: 84_300_000,
                compressedStreamBytes: 30_998_000,
                resumedBytes: nil,
                fingerprint: try #require(Fingerprint(print)),
                omissions: try omissions(count),
                externalLinks: [
                    ExternalLink(path: EntryPath("Documents/link"), target: [0x2F, 0xFF])
                ],
                externalLinkCount: 1,
                sessionReport: nil
            ),
            .ofFlags
        )
    }

    private static let print = String(repeating: "5f0c", count: 16)

    @Test func `answers an export`() throws {
        let answer = try Self.export(omitting: 1)
        #expect(
            answer.text == """
                notes.tar.zst: 1,204 files, 87 directories, 12 links; 84.2 MB in 31.0 MB (37 %)
                fingerprint \(Self.print)
                left out: tmp/0 (1.5 kB, by default)

                """
        )
        try Snapshot(name: "export-json").expect(try JSONText.document(answer))
    }

    @Test func `counts what it does not name`() throws {
        let lines = try Self.export(omitting: 1500).text.split(separator: "\n")
        #expect(lines.count == 2 + 10 + 1)
        #expect(lines.last == "… and 1,490 more (--json lists the first 1,000)")
        let few = try Self.export(omitting: 15).text.split(separator: "\n")
        #expect(few.last == "… and 5 more (--json lists them)")
    }

    private static var replaced: ReplacedData {
        var replaced = ReplacedData()
        replaced.totals = totals
        replaced.parts = [ReplacedData.Part(totals: totals, nameBytes: [UInt8]("tmp".utf8))]
        replaced.partCount = 1
        return replaced
    }

    /// The answer of an import, or of an extraction.
    static func imported(_ action: ImportAnswer.Action) throws -> ImportAnswer {
        let leftover = "a leftover of an import can't be removed"
        var report = ImportReport(
            header: Self.header,
            fingerprint: nil,
            lacksEndMark: false,
            hasTrailer: false,
            isAndroidBackup: false,
            totals: Self.totals,
            omissions: try Self.omissions(1),
            replaced: Self.replaced,
            keptPath: [UInt8]("/data/kept".utf8),
            sessionReport: nil
        )
        report.leftovers = [
            MigrationError(.outputFailed, leftover, path: "/data/.staging")
        ]
        return ImportAnswer(
            action,
            of: ArchiveName("notes.tar.zst"),
            into: [UInt8]("/data/".utf8) + [0xE9],
            report,
            .ofFlags
        )
    }

    @Test func `answers an import`() throws {
        let answer = try Self.imported(.import)
        #expect(
            answer.text == """
                notes.tar.zst: imported into /data/\\xE9: 1,204 files, 87 directories, 12 links; 84.2 MB
                replaced 1,204 files, 87 directories, 12 links; 84.2 MB
                replaced  tmp: 1,204 files, 87 directories, 12 links; 84.2 MB
                kept it in /data/kept; 'migrate recover' says how to go back
                not restored: tmp/0 (1.5 kB, by default)

                """
        )
        try Snapshot(name: "import-json").expect(try JSONText.document(answer))
    }
}
