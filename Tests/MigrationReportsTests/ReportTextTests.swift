import Foundation
import MigrationArchive
import MigrationCore
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationReports

/// The answers about an archive and about a container's status.
struct ReportTextTests {
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

    private static let print = String(repeating: "5f0c", count: 16)

    /// An archive with a fingerprint, or another program's without one.
    private static func inspection(isForeign: Bool = false) -> InspectionAnswer {
        InspectionAnswer(
            ArchiveName("notes.tar.zst"),
            inspection: ArchiveInspection(
                header: isForeign ? nil : header,
                totals: isForeign ? nil : totals,
                fingerprint: isForeign ? nil : Fingerprint(print),
                archiveBytes: 31_000_000,
                streamBytes: 84_300_000,
                frameCount: isForeign ? nil : 21,
                lacksEndMark: false,
                hasTrailer: false,
                isAndroidBackup: false
            )
        )
    }

    @Test func `answers an inspection`() throws {
        try Snapshot(name: "inspect").expect(Self.inspection().text)
        try Snapshot(name: "inspect-foreign").expect(Self.inspection(isForeign: true).text)
        try Snapshot(name: "inspect-json").expect(
            try JSONText.document(Self.inspection())
        )
    }

    @Test func `escapes what another host says`() throws {
        let totals = String(decoding: try JSONEncoder().encode(Self.totals), as: UTF8.self)
        let item = #"{"bytes":0,"detail":"\u001b[2J\n\\x1B","path":"p","reason":"#
        let items = #"\#(item)"damaged"},\#(item)"specialFile"}"#
        let omissions = #"{"bytes":0,"count":2,"items":[\#(items)]}"#
        let answer = #"""
            {"fingerprint":"f","isUnchanged":false,"import":{"container":"/c","isSkipped":false,
            "omissions":\#(omissions),"replacedData":false,"totals":\#(totals)}}
            """#
        let received = try ReceiveAnswer(reading: [UInt8](answer.utf8))
        let text = received.import?.text(Wording(advice: { _ in nil }, step: { _ in "" }))
        #expect(
            text == #"""
                imported into /c there
                not restored: p (\x1B[2J\n\x1B)
                not restored: p (special file \x1B[2J\n\x1B)

                """#
        )
    }

    @Test func `answers a verification`() throws {
        let inspection = Self.inspection()
        let answer = VerificationAnswer(inspection, checked: .everything)
        let end = "21 frames, fingerprint \(Self.print)\n"
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
        let quick = VerificationAnswer(inspection, checked: .hashes)
        #expect(quick.text == "notes.tar.zst: hashes match, entries not read, \(end)")
        #expect(try JSONText.document(quick).contains(#""sound" : true"#))
        let foreign = VerificationAnswer(Self.inspection(isForeign: true), checked: .everything)
        #expect(foreign.text == "notes.tar.zst: readable to its end, without a fingerprint\n")
        #expect(try JSONText.document(foreign).contains(#""sound" : null"#))
    }

    @Test(arguments: [
        (false, false, "nothing"), (true, false, "files (Landlock 6), system calls (a filter)"),
        (
            true, true,
            "files (Landlock 6), system calls (a filter), sight of other files (a root of its own)"
        ),
    ])
    func `says how an extension is confined`(
        _ isConfined: Bool,
        _ hidesOtherFiles: Bool,
        _ text: String
    ) throws {
        let members: [String: Any] = [
            "isConfined": isConfined, "landlockVersion": 6, "filtersSystemCalls": isConfined,
            "hidesOtherFiles": hidesOtherFiles, "gaps": [String](), "bounds": [String](),
        ]
        let data = try JSONSerialization.data(withJSONObject: members)
        let report = try JSONDecoder().decode(ConfinementReport.self, from: data)
        #expect(PreflightText.confinement(report) == text)
    }

    @Test func `answers with a status`() throws {
        #expect(StatusAnswer(nil).text == "none\n")
        #expect(
            try JSONText.lineOfDocument(StatusAnswer(nil))
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
            ImportRecord(
                outcome: .failure(PersistedError(full)),
                date: Date(timeIntervalSince1970: 1_709_210_096),
                bundleIdentifier: "com.example.notes",
                platform: "iOS"
            )
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
