import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

struct ForeignAttributeTests {
    /// The first entry of a tar file with `records` before it, and the attributes that are dropped.
    private func read(
        _ records: [(String, String)],
        type: String = "0",
        recordType: String = "x",
        holding extra: ExtraMetadata = []
    ) throws -> (attributes: [ExtendedAttribute], dropped: [String]) {
        var tar = RawTar()
        tar.addRecords(records, type: recordType)
        tar.add("e", type: type, link: type == "0" ? "" : "to")
        let reader = ForeignTarReader(reading: TarStream(MemorySource(tar.ended())), holding: extra)
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

    private static let list = "user::rw-,user:1:r--,group::---,mask::r--,other::---"

    @Test(arguments: [
        list, "user::rw-\nuser:1:r--\ngroup::---\nmask::r--\nother::---\n",
        "user::rw-,user:daemon:r--:1,group::---,mask::r--,other::---",
        "mask::r--,other::---,user:1:r--,user::rw-,group::---",
    ])
    func `takes an access control list on request, however it is written`(_ text: String) throws {
        let own = try #require(AccessList(text: [UInt8](Self.list.utf8)))
        for (keyword, kind) in [("access", AccessList.Kind.access), ("default", .default)] {
            let records = [("SCHILY.acl.\(keyword)", text)]
            let (attributes, dropped) = try read(records, holding: .accessLists)
            let expected = ExtendedAttribute(name: kind.attributeName, value: own.attributeValue)
            #expect(attributes == [expected])
            #expect(dropped.isEmpty)
        }
    }

    @Test(arguments: [
        "user::rw-,user:daemon:r--,group::---,mask::r--,other::---", "user::rw-,user:1:r--",
        "user::rw-,user:1:r--,group::---,other::---", "nonsense",
        "user::rw-,user:1:r--,user:1:r--,group::---,mask::r--,other::---",
        "user::rw-,user:4294967295:r--,group::---,mask::r--,other::---",
    ])
    func `names an access control list that can't be taken`(_ text: String) throws {
        let (attributes, dropped) = try read([("SCHILY.acl.access", text)], holding: .accessLists)
        #expect(attributes.isEmpty)
        #expect(dropped == ["e: SCHILY.acl.access"])
    }

    @Test func `takes all attributes on request, and no owner without one`() throws {
        let records = [("SCHILY.xattr.trusted.a", "v"), ("SCHILY.xattr.user.b", "w")]
        let (attributes, dropped) = try read(records, holding: .attributes)
        #expect(
            attributes.map { String(decoding: $0.name, as: UTF8.self) } == ["trusted.a", "user.b"]
        )
        #expect(dropped.isEmpty)
    }

    @Test(arguments: [
        ([], FileOwner(user: 0, group: 0)),
        ([("uid", "70000000"), ("gid", "5")], FileOwner(user: 70_000_000, group: 5)),
    ])
    func `takes the owner on request`(_ records: [(String, String)], _ owner: FileOwner) throws {
        for extra in [ExtraMetadata.owners, []] {
            var tar = RawTar()
            if !records.isEmpty { tar.addRecords(records, type: "x") }
            tar.add("e", type: "0")
            let source = TarStream(MemorySource(tar.ended()))
            let entry = try ForeignTarReader(reading: source, holding: extra).next()
            #expect(entry?.owner == (extra.isEmpty ? nil : owner))
        }
    }

    @Test(arguments: ["4294967295", "-1", "root", "4294967296"])
    func `refuses an owner that is no number of an account`(_ text: String) throws {
        var tar = RawTar()
        tar.addRecords([("uid", text)], type: "x")
        tar.add("e", type: "0")
        let source = TarStream(MemorySource(tar.ended()))
        let error = #expect(throws: ArchiveError.self) {
            try ForeignTarReader(reading: source, holding: .owners).next()
        }
        #expect(error?.code == .damaged)
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
