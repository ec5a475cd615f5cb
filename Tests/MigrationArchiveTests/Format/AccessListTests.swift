import MigrationSystem
import Testing

@testable import MigrationArchive

struct AccessListTests {
    private func parse(_ text: String) -> AccessList? { AccessList(text: [UInt8](text.utf8)) }

    private static let text =
        "user::rwx,user:1:r--,user:2:-w-,group::--x,group:1:rw-,mask::rwx,other::---"

    @Test func `keeps a list in the kernel's bytes and in text`() throws {
        let list = try #require(parse(Self.text))
        let own: UInt32 = .max
        var value: [UInt8] = [2, 0, 0, 0]
        let entries: [(UInt16, UInt16, UInt32)] = [
            (1, 7, own), (2, 4, 1), (2, 2, 2), (4, 1, own), (8, 6, 1), (16, 7, own), (32, 0, own),
        ]
        for (tag, permissions, id) in entries {
            value.appendLittleEndian(tag)
            value.appendLittleEndian(permissions)
            value.appendLittleEndian(id)
        }
        #expect(list.attributeValue == value)
        #expect(AccessList(attributeValue: value) == list)
        #expect(String(decoding: list.text, as: UTF8.self) == Self.text)
    }

    @Test func `takes no bytes that the kernel does not write`() throws {
        let value = try #require(parse(Self.text)).attributeValue
        for count in 0..<value.count {
            #expect(AccessList(attributeValue: [UInt8](value.prefix(count))) == nil)
        }
        // The version, a tag, a permission, an account where none belongs, an order.
        for (index, byte) in [(0, 1), (4, 3), (6, 8), (8, 0), (16, 3)] {
            var changed = value
            changed[index] = UInt8(byte)
            #expect(AccessList(attributeValue: changed) == nil, "byte \(index)")
        }
    }

    @Test func `maps accounts, of which the first counts where two become one`() throws {
        var map = OwnerMap()
        map.users = [1: 9, 2: 9]
        map.groups = [1: 3]
        let mapped = try #require(parse(Self.text)).mapped(by: map)
        let expected = "user::rwx,user:9:r--,group::--x,group:3:rw-,mask::rwx,other::---"
        #expect(String(decoding: mapped.text, as: UTF8.self) == expected)
    }
}
