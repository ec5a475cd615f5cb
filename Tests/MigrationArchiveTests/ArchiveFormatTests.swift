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
        if let kind { #expect(error?.message.contains("a \(kind) file") == true) }
    }

    @Test func `knows its own archives by their header`() throws {
        guard case .migration(let header) = try detect(TestArchive([]).bytes) else {
            Issue.record("not known")
            return
        }
        #expect(header == .sample)
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
        records.append("comment", [UInt8]("migration/3 {}".utf8))
        let error = #expect(throws: ArchiveError.self) { try GlobalHeader.parse(records) }
        #expect(error?.code == .unsupported)
        #expect(error?.message == "the archive was made by a newer version")
    }

    @Test func `says that version 1 is not read any more`() throws {
        var records = PaxRecords()
        records.append("comment", [UInt8]("migration/1 {}".utf8))
        let error = #expect(throws: ArchiveError.self) { try GlobalHeader.parse(records) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("newer") == false)
    }

    @Test(arguments: ["migration/2 {}", "migration/2 ", "migration/2 []", "migration/2 {\"a\":1}"])
    func `refuses a header that says nothing`(_ value: String) throws {
        let sound = try GlobalHeader.records(of: .sample).records
        for (first, second) in [(value, sound[1].value), (nil, [UInt8](value.utf8))] {
            var records = PaxRecords()
            records.append("comment", first.map { [UInt8]($0.utf8) } ?? sound[0].value)
            records.append("comment", second)
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
