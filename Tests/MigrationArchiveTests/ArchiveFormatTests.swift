import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ArchiveFormatTests {
    private func detect(_ bytes: [UInt8]) throws -> ArchiveFormat {
        let input = try Scratch.input(holding: bytes)
        let format = try ArchiveFormat.detect(in: input)
        #expect(input.position == 0)
        return format
    }

    @Test(
        arguments: [
            ([], nil), ([0x28], nil), ([UInt8]("text, long enough to be looked at".utf8), nil),
            (text(2000), nil), ([UInt8](repeating: 0, count: 1024), nil),
            ([0x42, 0x5A, 0x68, 0x39] + noise(1000), "bzip2"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz"), ([0x50, 0x4B, 3, 4] + noise(600), "zip"),
        ] as [([UInt8], String?)]
    )
    func `says what is no archive`(_ bytes: [UInt8], _ kind: String?) {
        let error = #expect(throws: ArchiveError.self) { try detect(bytes) }
        #expect(error?.code == .notAnArchive)
        if let kind { #expect(error?.message.contains(" \(kind)") == true) }
    }

    @Test func `knows its own archives by their header`() throws {
        guard case .migration(let frame) = try detect(TestArchive([]).bytes) else {
            Issue.record("not known")
            return
        }
        #expect(frame.header == .sample)
    }

    @Test func `knows other tar files`() throws {
        var tar = RawTar()
        tar.add("f")
        guard case .plainTar = try detect(tar.ended()) else {
            Issue.record("a tar file is not known")
            return
        }
        guard case .compressedTar = try detect(StoredFrame.bytes(storing: tar.ended())) else {
            Issue.record("a compressed tar file is not known")
            return
        }
    }

    @Test func `says that a newer version is newer`() throws {
        var records = PaxRecords()
        records.append(key: "comment", value: [UInt8]("migration/3 {}".utf8))
        let error = #expect(throws: ArchiveError.self) { try GlobalHeader.parse(records) }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "the archive was made by a newer version")
    }

    // MARK: - What is reserved

    /// An archive of one file, whose header has `description` and, behind the second record, `others`.
    private func archive(_ description: String, others: [String] = []) throws -> TestArchive {
        var records = PaxRecords()
        records.append(key: "comment", value: [UInt8]("migration/2 \(description)".utf8))
        records.append(
            key: "comment",
            value: [UInt8](
                #"export {"compressible":true,"creator":"t","later":1,"sizeEstimate":0}"#.utf8
            )
        )
        for other in others { records.append(key: "comment", value: [UInt8](other.utf8)) }
        let sound = try TestArchive([Item("a", [7])])
        let frame = try HeaderFrame(holding: records)
        let header = try #require(frame)
        var index = ArchiveIndex(after: header)
        index.append(try sound.index.frames[0], digest: [UInt8](try sound.index.digest(of: 0)))
        index.totals = try sound.index.totals
        let entries = try sound.entryIndex
        index.append(entryIndex: entries)
        let pieces = try sound.parts.frames[0]
        return TestArchive(bytes: header.bytes + pieces + entries + index.encoded)
    }

    private static let fields = #""platform":"iOS","resourcesVersion":"1""#

    @Test func `passes over what a later program says beside`() throws {
        let plain = #"{"bundleIdentifier":"b",\#(Self.fields)}"#
        let before = #""bundleIdentifier":"b","contentVersion":"7""#
        let more = #"{\#(before),\#(Self.fields),"store":"s","team":["T",{"a":1}]}"#
        let further = "further " + String(repeating: "a", count: 48 << 10)
        var fingerprints: [Fingerprint?] = []
        for archive in [
            try archive(plain), try archive(plain, others: [further]), try archive(more),
        ] {
            for route in TestArchive.Route.allCases {
                let reader = try archive.reader(route)
                #expect(reader.header?.bundleIdentifier == "b")
                #expect(try reader.items() == [Item("a", [7])])
                if route == .pipe { fingerprints.append(reader.fingerprint) }
            }
            #expect(try archive.verify().fingerprint == fingerprints.last)
        }
        // A record that describes the data counts, a further record does not.
        #expect(fingerprints[0] == fingerprints[1])
        #expect(fingerprints[0] != fingerprints[2])
    }

    @Test(arguments: [#"["owners","accessLists"]"#, #"["owners","owners"]"#, "[]"])
    func `refuses the names of extra metadata in another order`(_ names: String) throws {
        let error = #expect(throws: ArchiveError.self) {
            try archive(
                #"{"bundleIdentifier":"b","platform":"iOS","requires":\#(names),"resourcesVersion":"1"}"#
            )
        }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: ["something else", "owner"])
    func `refuses what it must know and does not`(_ feature: String) throws {
        let error = #expect(throws: ArchiveError.self) {
            try archive(#"{"platform":"iOS","requires":["\#(feature)"],"resourcesVersion":"1"}"#)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.hasPrefix("the archive was made by a newer version") == true)
    }

    @Test func `need not name an app`() throws {
        let archive = try archive("{\(Self.fields)}")
        for route in TestArchive.Route.allCases {
            let reader = try archive.reader(route)
            #expect(reader.header?.platform == "iOS" && reader.header?.bundleIdentifier == nil)
            #expect(try reader.items() == [Item("a", [7])])
        }
    }

    /// Equal content has equal bytes, and so the same fingerprint.
    @Test(
        arguments: [
            #"{"platform":"iOS", "resourcesVersion":"1"}"#,
            #"{"platform":"iOS","resourcesVersion":"1"} "#,
            #"{"resourcesVersion":"1","platform":"iOS"}"#,
            #"{"platform":"iOS","platform":"iOS","resourcesVersion":"1"}"#,
            #"{"platform":"i\u004FS","resourcesVersion":"1"}"#,
            #"{"platform":"i\/S","resourcesVersion":"1"}"#,
            #"{"platform":"iOS","resourcesVersion":"1","z":null}"#,
            #"{"platform":"iOS","resourcesVersion":"1","z":1.0}"#,
            #"{"activity":"YQ=","platform":"iOS","resourcesVersion":"1"}"#,
            #"{"activity":"YR==","platform":"iOS","resourcesVersion":"1"}"#,
            #"{"bundleIdentifier":7,"platform":"iOS","resourcesVersion":"1"}"#,
        ]
    )
    func `refuses a description in other bytes than it has`(_ description: String) throws {
        let error = #expect(throws: ArchiveError.self) { try archive(description) }
        #expect(error?.code == .damaged)
    }

    @Test func `takes a header of no more than 124 KiB`() throws {
        let plain = #"{"bundleIdentifier":"b",\#(Self.fields)}"#
        let long = "further " + String(repeating: "a", count: 124 << 10)
        let archive = try archive(plain, others: [long])
        #expect(throws: ArchiveError.self) { try archive.items(.selectiveFile) }
    }

    @Test func `says that version 1 is not read any more`() throws {
        var records = PaxRecords()
        records.append(key: "comment", value: [UInt8]("migration/1 {}".utf8))
        let error = #expect(throws: ArchiveError.self) { try GlobalHeader.parse(records) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("newer") == false)
    }

    @Test(arguments: ["migration/2 {}", "migration/2 ", "migration/2 []", "migration/2 {\"a\":1}"])
    func `refuses a header that says nothing`(_ value: String) throws {
        let sound = try GlobalHeader.records(of: .sample).records
        for (first, second) in [(value, sound[1].value), (nil, [UInt8](value.utf8))] {
            var records = PaxRecords()
            records.append(key: "comment", value: first.map { [UInt8]($0.utf8) } ?? sound[0].value)
            records.append(key: "comment", value: second)
            let error = #expect(throws: ArchiveError.self) { try GlobalHeader.parse(records) }
            #expect(error?.code == .damaged)
        }
    }

    @Test func `reads a tar file of another program with the reader of its own`() throws {
        var tar = RawTar()
        tar.add("d/", type: "5")
        tar.add("d/f", content: text(700))
        for route in TestArchive.Route.allCases {
            let archive = TestArchive(bytes: tar.ended())
            let reader = try archive.reader(route)
            #expect(reader.header == nil && reader.fingerprint == nil)
            #expect(try reader.items().map(\.content) == [[], text(700)])
            let verified = try archive.verify(route)
            #expect(verified.fingerprint == nil)
            #expect(verified.totals?.files == 1)
        }
    }
}
