import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

/// Every byte that the encoder writes, feature by feature.
struct TarEntryEncoderTests {
    /// A ustar header from its parts, put together without the code under test.
    private func block(
        _ name: String,
        prefix: String = "",
        mode: String = "0000644",
        size: String = "00000000000",
        time: String = "14524770400",
        type: String = "0",
        link: String = "",
        user: String = "0000000",
        group: String = "0000000"
    ) -> [UInt8] {
        func field(_ text: String, _ width: Int) -> [UInt8] {
            [UInt8](text.utf8) + [UInt8](repeating: 0, count: width - text.utf8.count)
        }
        var bytes = field(name, 100) + field(mode, 8) + field(user, 8) + field(group, 8)
        bytes += field(size, 12) + field(time, 12) + field("        ", 8)
        bytes += field(type, 1) + field(link, 100) + field("ustar", 6) + field("00", 2)
        bytes += field("", 64) + field("0000000", 8) + field("0000000", 8)
        bytes += field(prefix, 155) + field("", 12)
        bytes.fixChecksum()
        return bytes
    }

    /// An extended header that holds `records`.
    private func extended(_ records: [UInt8], type: String = "x") -> [UInt8] {
        let octal = String(records.count, radix: 8)
        let size = String(repeating: "0", count: 11 - octal.count) + octal
        let name = type == "g" ? "pax_global_header" : "PaxHeader"
        let padding = [UInt8](repeating: 0, count: (512 - records.count % 512) % 512)
        return block(name, size: size, time: "00000000000", type: type) + records + padding
    }

    private func extended(_ records: String) -> [UInt8] { extended([UInt8](records.utf8)) }

    @Test func `writes a plain ustar header for a file`() throws {
        let encoded = try StrictStream.encoded(.file("Documents/a.txt", size: 10))
        #expect(encoded == block("Documents/a.txt", size: "00000000012"))
        // The sum of the bytes, worked out by hand once.
        #expect(String(decoding: encoded[148..<156], as: UTF8.self) == "012162\0 ")
    }

    @Test func `writes an owner into its fields, and into records where it is too large`() throws {
        let owner = FileOwner(user: 1000, group: 0o7_777_777)
        let plain = try StrictStream.encoded(.file("a", owner: owner))
        #expect(plain == block("a", user: "0001750", group: "7777777"))
        let large = FileOwner(user: 0o10_000_000, group: 4_294_967_294)
        let encoded = try StrictStream.encoded(.file("a", owner: large))
        #expect(encoded == extended("15 uid=2097152\n18 gid=4294967294\n") + block("a"))
    }

    @Test func `writes an access control list as the text that tars write`() throws {
        let text = "user::rw-,user:5:r--,group::r--,mask::r--,other::---"
        let list = try #require(AccessList(text: [UInt8](text.utf8)))
        let name = [UInt8]("system.posix_acl_access".utf8)
        let attribute = ExtendedAttribute(name: name, value: list.attributeValue)
        let encoded = try StrictStream.encoded(.file("a", attributes: [attribute]))
        #expect(encoded == extended("74 SCHILY.acl.access=\(text)\n") + block("a"))
    }

    @Test func `ends a directory's name with a slash`() throws {
        let encoded = try StrictStream.encoded(.directory("Documents", permissions: 0o1750))
        #expect(encoded == block("Documents/", mode: "0001750", type: "5"))
    }

    @Test func `writes links with their targets`() throws {
        let symbolic = try StrictStream.encoded(.symbolicLink("l", to: "../x"))
        #expect(symbolic == block("l", mode: "0000777", type: "2", link: "../x"))
        let hard = try StrictStream.encoded(.hardLink("h", to: "a/b"))
        #expect(hard == block("h", type: "1", link: "a/b"))
    }

    @Test func `fills the name field to its last byte`() throws {
        let name = String(repeating: "n", count: 100)
        #expect(try StrictStream.encoded(.file(name)) == block(name))
    }

    @Test func `splits a longer path at the first slash that leaves both parts short enough`()
        throws
    {
        let prefix = String(repeating: "p", count: 30)
        let middle = String(repeating: "m", count: 40)
        let name = String(repeating: "n", count: 59)
        let encoded = try StrictStream.encoded(.file("\(prefix)/\(middle)/\(name)"))
        #expect(encoded == block("\(middle)/\(name)", prefix: prefix))
    }

    @Test func `fills prefix and name to their last bytes`() throws {
        let (prefix, name) = (
            String(repeating: "p", count: 155), String(repeating: "n", count: 100)
        )
        #expect(try StrictStream.encoded(.file("\(prefix)/\(name)")) == block(name, prefix: prefix))
    }

    @Test func `never splits a directory's name at its last slash`() throws {
        let name = String(repeating: "d", count: 100)
        let encoded = try StrictStream.encoded(.directory(name))
        #expect(
            encoded == extended("111 path=\(name)/\n") + block(name, mode: "0000755", type: "5")
        )
    }

    @Test func `puts a path that can't be split into a record`() throws {
        let name = String(repeating: "n", count: 101)
        let encoded = try StrictStream.encoded(.file(name))
        #expect(encoded == extended("111 path=\(name)\n") + block(String(name.dropLast())))
    }

    @Test func `puts a path that is not ASCII into a record`() throws {
        let encoded = try StrictStream.encoded(.file("é"))
        #expect(encoded == extended("11 path=é\n") + block("__"))
    }

    @Test func `leaves short names that are no UTF-8 in their fields`() throws {
        let entry = ArchiveEntry(
            path: EntryPath(bytes: [0x66, 0xE9]),
            kind: .symbolicLink(target: [0xFF]),
            permissions: 0o777,
            modificationTime: ArchiveEntry.sampleTime
        )
        var expected = block("f?", mode: "0000777", type: "2", link: "?")
        expected[1] = 0xE9
        expected[157] = 0xFF
        expected.fixChecksum()
        #expect(try StrictStream.encoded(entry) == expected)
    }

    @Test func `declares long names that are no UTF-8`() throws {
        let name = [UInt8](repeating: 0x6E, count: 100) + [0xE9]
        let target = [UInt8](repeating: 0x74, count: 100) + [0xFF]
        let entry = ArchiveEntry(
            path: EntryPath(bytes: name),
            kind: .symbolicLink(target: target),
            permissions: 0o777,
            modificationTime: ArchiveEntry.sampleTime
        )
        let records =
            [UInt8]("21 hdrcharset=BINARY\n111 path=".utf8) + name
            + [UInt8]("\n115 linkpath=".utf8) + target + [0x0A]
        let fields = (
            name: String(repeating: "n", count: 100), link: String(repeating: "t", count: 100)
        )
        let header = block(fields.name, mode: "0000777", type: "2", link: fields.link)
        #expect(try StrictStream.encoded(entry) == extended(records) + header)
    }

    @Test(arguments: [100, 101])
    func `puts a link's target into a record where it passes its field`(_ count: Int) throws {
        let target = String(repeating: "t", count: count)
        let encoded = try StrictStream.encoded(.symbolicLink("l", to: target))
        let field = String(target.prefix(100))
        let header = block("l", mode: "0000777", type: "2", link: field)
        #expect(encoded == (count == 100 ? [] : extended("115 linkpath=\(target)\n")) + header)
    }

    @Test func `puts a link's target that is not ASCII into a record`() throws {
        let encoded = try StrictStream.encoded(.hardLink("h", to: "é"))
        #expect(encoded == extended("15 linkpath=é\n") + block("h", type: "1", link: "__"))
    }

    @Test func `puts a size over 8 GiB into a record`() throws {
        let largest = try StrictStream.encoded(.file("f", size: 8_589_934_591))
        #expect(largest == block("f", size: "77777777777"))
        let larger = try StrictStream.encoded(.file("f", size: 8_589_934_592))
        #expect(larger == extended("19 size=8589934592\n") + block("f"))
    }

    @Test(arguments: [
        (FileTime(seconds: 0), nil, "00000000000"),
        (FileTime(seconds: 8_589_934_591), nil, "77777777777"),
        (FileTime(seconds: 8_589_934_592), "20 mtime=8589934592\n", "77777777777"),
        (FileTime(seconds: 1, nanoseconds: 999_999_999), nil, "00000000001"),
        (FileTime(seconds: -1), "12 mtime=-1\n", "00000000000"),
        (FileTime(seconds: -1, nanoseconds: 750_000_000), "12 mtime=-1\n", "00000000000"),
    ])
    func `writes times`(_ time: FileTime, _ record: String?, _ field: String) throws {
        let encoded = try StrictStream.encoded(.file("f", time: time))
        #expect(encoded == (record.map { extended($0) } ?? []) + block("f", time: field))
    }

    @Test func `escapes attribute names and keeps values as they are`() throws {
        let attributes = [
            ExtendedAttribute(name: [UInt8]("user.a=b%c".utf8), value: [0, 0xFF, 0x0A, 0x3D]),
            ExtendedAttribute(name: [UInt8]("user.empty".utf8), value: []),
        ]
        let encoded = try StrictStream.encoded(.file("f", attributes: attributes))
        let records =
            [UInt8]("36 SCHILY.xattr.user.a%3Db%25c=".utf8) + [0, 0xFF, 0x0A, 0x3D, 0x0A]
            + [UInt8]("28 SCHILY.xattr.user.empty=\n".utf8)
        #expect(encoded == extended(records) + block("f"))
    }

    @Test func `writes the global header with a record of the data and one of the export`() throws {
        var encoded: [UInt8] = []
        let records = try GlobalHeader.records(of: .sample)
        TarEntryEncoder().encodeExtended(records, typeFlag: TypeFlag.globalHeader, to: &encoded)
        let data =
            #"{"bundleIdentifier":"org.example.notes","platform":"linux","resourcesVersion":"1"}"#
        let export = #"{"compressible":true,"creator":"tests","sizeEstimate":0}"#
        let first = [UInt8]("107 comment=migration/2 \(data)\n".utf8)
        let second = [UInt8]("75 comment=export \(export)\n".utf8)
        #expect((first.count, second.count) == (107, 75))
        #expect(encoded == extended(first + second, type: "g"))
    }

    @Test func `refuses what takes more than 1 MiB of records`() {
        let value = [UInt8](repeating: 1, count: 1 << 20)
        let attribute = ExtendedAttribute(name: [UInt8]("user.a".utf8), value: value)
        let error = #expect(throws: ArchiveError.self) {
            try StrictStream.encoded(.file("f", attributes: [attribute]))
        }
        #expect(error?.code == .unrepresentable)
    }
}
