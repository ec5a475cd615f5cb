import Foundation
import MigrationArchive
import MigrationSystem
import Testing

@testable import MigrationCore
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

    private static func export(omitting count: Int) throws -> ExportAnswer {
        ExportAnswer(
            archive: ArchiveName("notes.tar.zst"),
            archiveBytes: 31_000_000,
            compressedStreamBytes: 30_998_000,
            externalLinkCount: 1,
            externalLinks: [ExternalLink(path: EntryPath("Documents/link"), target: [0x2F, 0xFF])],
            fingerprint: "5f0c",
            header: header,
            omissions: try omissions(count),
            streamBytes: 84_300_000,
            totals: totals
        )
    }

    private static func inspection(of fingerprint: String?) -> InspectionAnswer {
        InspectionAnswer(
            archive: ArchiveName("notes.tar.zst"),
            archiveBytes: 31_000_000,
            fingerprint: fingerprint,
            frameCount: fingerprint == nil ? nil : 21,
            header: fingerprint == nil ? nil : header,
            streamBytes: 84_300_000,
            totals: fingerprint == nil ? nil : totals
        )
    }

    @Test func `answers an export`() throws {
        let answer = try Self.export(omitting: 1)
        #expect(
            answer.text == """
                notes.tar.zst: 1,204 files, 87 directories, 12 links; 84.2 MB in 31.0 MB (37 %)
                fingerprint 5f0c
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

    @Test func `answers an inspection`() throws {
        try Snapshot(name: "inspect").expect(Self.inspection(of: "5f0c").text)
        try Snapshot(name: "inspect-foreign").expect(Self.inspection(of: nil).text)
        try Snapshot(name: "inspect-json").expect(
            try JSONText.document(Self.inspection(of: "5f0c"))
        )
    }

    @Test func `answers a verification`() throws {
        let inspection = Self.inspection(of: "5f0c")
        let answer = VerificationAnswer(inspection: inspection, checked: .everything)
        let end = "21 frames, fingerprint 5f0c\n"
        #expect(answer.text == "notes.tar.zst: sound, read as an import would, \(end)")
        let lines = { (text: String) in Set(text.split { "\n,".contains($0) }.map(String.init)) }
        let added = try lines(JSONText.document(answer))
            .subtracting(lines(JSONText.document(inspection)))
        #expect(
            added == [
                #"  "checked" : "everything""#, #"  "schema" : "migrate/verify/1""#,
                #"  "sound" : true"#,
            ]
        )
        let quick = VerificationAnswer(inspection: inspection, checked: .hashes)
        #expect(quick.text == "notes.tar.zst: hashes match, entries not read, \(end)")
        #expect(try JSONText.document(quick).contains(#""sound" : true"#))
        let foreign = VerificationAnswer(inspection: Self.inspection(of: nil), checked: .everything)
        #expect(foreign.text == "notes.tar.zst: readable to its end, without a fingerprint\n")
        #expect(try JSONText.document(foreign).contains(#""sound" : null"#))
    }

    private static var replaced: ReplacedData {
        var replaced = ReplacedData()
        replaced.totals = totals
        replaced.parts = [ReplacedData.Part(totals: totals, nameBytes: [UInt8]("tmp".utf8))]
        replaced.partCount = 1
        return replaced
    }

    @Test func `answers an import`() throws {
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
        let answer = ImportAnswer(
            action: .import,
            archive: ArchiveName("notes.tar.zst"),
            destination: [UInt8]("/data/".utf8) + [0xE9],
            report: report
        )
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

    @Test func `answers with a status`() throws {
        #expect(StatusAnswer(status: .none).text == "none\n")
        #expect(
            try JSONText.lineOfDocument(StatusAnswer(status: .none))
                == #"{"activityTitle":null,"activityType":null,"bundleIdentifier":null,"changedTimes":null,"date":null,"#
                + #""failure":null,"fingerprint":null,"lastAttempt":null,"platform":null,"readDate":null,"#
                + #""resourcesVersion":null,"#
                + #""schema":"migrate/status/1","status":"none"}"#
        )
        let date = Timestamp(FileTime(seconds: 1_709_210_096))
        let full = NSError(
            domain: "Notes",
            code: 4,
            userInfo: [
                NSLocalizedDescriptionKey: "no\nroom",
                NSLocalizedFailureReasonErrorKey: "full",
                NSLocalizedRecoverySuggestionErrorKey: "Make room.",
                NSUnderlyingErrorKey: NSError(domain: "disk", code: 28),
                "free": 12,
            ]
        )
        let answer = StatusAnswer(
            status: .failure,
            bundleIdentifier: "com.example.notes",
            date: date,
            failure: PersistedError(full),
            platform: "iOS"
        )
        #expect(
            answer.text == """
                failure: no\\nroom
                reason     full
                advice     Make room.
                date       \(date.localSeconds)
                app        com.example.notes
                platform   iOS
                asked for  not by the app yet

                """
        )
        try Snapshot(name: "status-json").expect(try JSONText.document(answer))
    }
}
