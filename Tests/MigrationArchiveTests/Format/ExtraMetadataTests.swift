import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ExtraMetadataTests {
    private static let owner = FileOwner(user: 1000, group: 4_294_967_294)
    private static let all: ExtraMetadata = [.owners, .accessLists, .attributes]

    private static func attribute(_ name: String, _ value: [UInt8]) -> ExtendedAttribute {
        ExtendedAttribute(name: [UInt8](name.utf8), value: value)
    }

    private static func list() throws -> ExtendedAttribute {
        let text = "user::rw-,user:5:r--,group::r--,mask::r--,other::---"
        let list = try #require(AccessList(text: [UInt8](text.utf8)))
        return attribute("system.posix_acl_access", list.attributeValue)
    }

    private static func items(of size: Int) throws -> [Item] {
        let attributes = [
            attribute("security.capability", [1, 0, 2]), try list(), attribute("user.a", [3]),
        ]
        let content = [UInt8](repeating: 7, count: size)
        var item = Item(.file("a", size: size, attributes: attributes, owner: owner))
        item.content = content
        return [item, Item(.file("b", owner: FileOwner(user: 0, group: 0)))]
    }

    @Test(arguments: [5, 200_000], TestArchive.Route.allCases)
    func `reads what was written, of small files and of large ones`(
        _ size: Int,
        _ route: TestArchive.Route
    ) throws {
        let items = try Self.items(of: size)
        let archive = try TestArchive(items, header: .sample(holding: Self.all))
        #expect(try archive.items(route) == items)
        #expect(try archive.reader(route).header?.extraMetadata == Self.all)
    }

    @Test func `has another fingerprint with what it holds`() throws {
        let item = Item(.file("a"))
        let plain = try TestArchive([item]).summary?.fingerprint
        let holding = try TestArchive([item], header: .sample(holding: .accessLists)).summary
        #expect(plain != holding?.fingerprint)
    }

    private static func misfits() throws -> [(ArchiveEntry, ExtraMetadata)] {
        let nobody = FileOwner(user: .max, group: 0)
        let noGroup = FileOwner(user: 0, group: .max)
        return [
            (.file("a", owner: owner), []), (.file("a"), .owners),
            (.file("a", owner: nobody), .owners), (.file("a", owner: noGroup), .owners),
            (.file("a", attributes: [try list()]), .attributes),
            (.file("a", attributes: [attribute("trusted.a", [])]), .accessLists),
            (.file("a", attributes: [attribute("system.posix_acl_access", [1])]), .accessLists),
        ]
    }

    @Test func `writes and reads no entry that its header does not announce`() throws {
        for (entry, extra) in try Self.misfits() {
            let error = #expect(throws: ArchiveError.self) {
                try TestArchive([Item(entry)], header: .sample(holding: extra))
            }
            #expect(error?.code == .unrepresentable)
            // Another program may write it all the same.
            if entry.owner == nil, extra.contains(.owners) { continue }
            let stream = try StrictStream.encoded(entry)
            let refused = #expect(throws: ArchiveError.self) {
                try StrictStream().entries(in: stream, holding: extra)
            }
            #expect(refused?.code == .refused)
        }
    }
}
