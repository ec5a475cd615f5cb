import Foundation
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct AllocatedSizeTests {
    private static let block = [UInt8](repeating: 1, count: 1 << 16)

    private func size(_ place: Place, upTo limit: UInt64 = .max) throws -> UInt64 {
        try place.directory.allocatedSize(upTo: limit)
    }

    @Test func `adds up what lies at any depth`() throws {
        let place = try Place()
        var path = try BytePath.scratch
        // More levels than are open at a time, and a directory beside each.
        for level in 0..<150 {
            try (path / "beside").makeDirectory()
            try (path / "beside/file").write(Data(Self.block))
            path = path / "level\(level)"
            try path.makeDirectory()
        }
        let size = try size(place)
        #expect(size >= 150 * UInt64(Self.block.count))
        #expect(size < 2 * 150 * UInt64(Self.block.count))
    }

    @Test func `counts names without content, and the parts of what has further names`() throws {
        let place = try Place()
        for index in 0..<100 { try place.makeFile("empty\(index)") }
        let empty = try size(place)
        #expect(empty >= 100 * 512)
        try place.makeFile("big", Self.block)
        for index in 0..<7 {
            try (BytePath.scratch / "name\(index)").makeHardLink(to: BytePath.scratch / "big")
        }
        let added = try size(place) - empty
        #expect(added >= UInt64(Self.block.count))
        #expect(added < 2 * UInt64(Self.block.count))
    }

    @Test func `stops soon after the limit, and follows no link`() throws {
        let place = try Place()
        try (BytePath.scratch / "link").makeSymbolicLink(to: "/usr")
        #expect(try size(place) < 1 << 16)
        for name in ["a", "b", "c", "d"] {
            try (BytePath.scratch / "\(name)").makeDirectory()
            try (BytePath.scratch / "\(name)/file").write(Data(Self.block))
        }
        let limit = UInt64(Self.block.count) / 2
        let found = try size(place, upTo: limit)
        #expect(found > limit)
        #expect(found < 3 * UInt64(Self.block.count))
    }
}
