import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

struct ForeignAttributeTests {
    /// The first entry of a tar file whose `records` come before it, and what is dropped of it.
    private func read(
        _ records: [(String, String)],
        type: String = "0",
        recordType: String = "x"
    ) throws -> (attributes: [ExtendedAttribute], dropped: [String]) {
        var tar = RawTar()
        tar.addRecords(records, type: recordType)
        tar.add("e", type: type, link: type == "0" ? "" : "to")
        let reader = ForeignTarReader(reading: TarStream(MemorySource(tar.ended())))
        let entry = try #require(try reader.next())
        let dropped = reader.takeOmissions().map { omission in
            guard case .extendedAttribute(let name) = omission.kind else {
                return "\(omission.kind)"
            }
            return "\(omission.path): " + String(decoding: name, as: UTF8.self)
        }
        return (entry.extendedAttributes, dropped)
    }

    @Test(arguments: [
        ([("SCHILY.acl.access", "user::rw-,user:1:r--,mask::r--")], "SCHILY.acl.access"),
        ([("SCHILY.acl.default", "user::rw-")], "SCHILY.acl.default"),
        ([("RHT.security.selinux", "label")], "RHT.security.selinux"),
        ([("LIBARCHIVE.xattr.user.a", "?")], "LIBARCHIVE.xattr.user.a"),
        ([("LIBARCHIVE.xattr.user.%4", "YQ")], "LIBARCHIVE.xattr.user.%4"),
        ([("LIBARCHIVE.xattr.user.%+f", "YQ")], "LIBARCHIVE.xattr.user.%+f"),
        ([("LIBARCHIVE.xattr.user.%-0", "YQ")], "LIBARCHIVE.xattr.user.%-0"),
        ([("LIBARCHIVE.xattr.trusted.a", "YQ")], "trusted.a"),
    ])
    func `names each attribute that is not restored`(
        _ records: [(String, String)],
        _ name: String
    ) throws {
        let (attributes, dropped) = try read(records)
        #expect(attributes.isEmpty)
        #expect(dropped == ["e: \(name)"])
    }

    @Test func `names the attributes of a symbolic link, which has none`() throws {
        let (attributes, dropped) = try read([("SCHILY.xattr.user.a", "v")], type: "2")
        #expect(attributes.isEmpty)
        #expect(dropped == ["e: user.a"])
    }

    @Test func `names of a hard link's attributes only those that its file can't have`() throws {
        let records = [("SCHILY.xattr.user.a", "v"), ("SCHILY.xattr.trusted.a", "v")]
        let (attributes, dropped) = try read(records, type: "1")
        #expect(attributes.isEmpty)
        #expect(dropped == ["e: trusted.a"])
    }

    @Test func `takes of several spellings of a name always the same`() throws {
        let records = [
            ("LIBARCHIVE.xattr.user.a%62", "djE"), ("LIBARCHIVE.xattr.user.%61b", "djI"),
            ("LIBARCHIVE.xattr.user.ab", "djM"), ("LIBARCHIVE.xattr.user.%61%62", "djQ"),
        ]
        for records in [records, records.reversed()] {
            let (attributes, dropped) = try read(records)
            #expect(attributes.map(\.name) == [[UInt8]("user.ab".utf8)])
            #expect(attributes.map(\.value) == [[UInt8]("v3".utf8)])
            #expect(dropped.isEmpty)
        }
    }

    @Test func `names the attributes of the root, whichever of its entries is the last`() throws {
        var tar = RawTar()
        for number in 0..<3 {
            tar.addRecords([("SCHILY.xattr.user.\(number)", "v")])
            tar.add("./", type: "5")
        }
        tar.addRecords([("SCHILY.xattr.trusted.f", "v")])
        tar.add("f")
        let reader = ForeignTarReader(reading: TarStream(MemorySource(tar.ended())))
        _ = try reader.next()
        let expected = [(".", "user.2"), ("f", "trusted.f")].map { path, name in
            EntryOmission(path: EntryPath(path), kind: .extendedAttribute(name: [UInt8](name.utf8)))
        }
        #expect(reader.takeOmissions() == expected)
    }

    @Test func `names the attributes that a global header sets`() throws {
        let records = [("SCHILY.xattr.user.g", "v"), ("SCHILY.acl.default", "user::rw-")]
        let (attributes, dropped) = try read(records, recordType: "g")
        #expect(attributes.isEmpty)
        #expect(dropped == ["e: user.g", "e: SCHILY.acl.default"])
    }

    @Test func `says nothing of an access list that says no more than the mode`() throws {
        let list = "user::rw-\ngroup::r--\nother::r--\n"
        #expect(try read([("SCHILY.acl.access", list)]).dropped.isEmpty)
    }

    @Test func `reads attributes as libarchive writes them, once or twice`() throws {
        let (attributes, dropped) = try read([
            ("LIBARCHIVE.xattr.user.%C3%A9%3D", "YQA"), ("SCHILY.xattr.user.%C3%A9%3D", "other"),
            ("LIBARCHIVE.xattr.user.none", ""), ("SCHILY.xattr.user.star", "s"),
        ])
        let expected: [(String, [UInt8])] = [
            ("user.none", []), ("user.star", [0x73]), ("user.é=", [0x61, 0]),
        ]
        #expect(
            attributes
                == expected.map { ExtendedAttribute(name: [UInt8]($0.0.utf8), value: $0.1) }
        )
        #expect(dropped.isEmpty)
    }
}
