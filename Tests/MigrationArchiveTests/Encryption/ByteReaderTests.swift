import Testing

@testable import MigrationArchive

struct ByteReaderTests {
    @Test func `continues behind the look ahead after a read of no bytes`() throws {
        let bytes = noise(200_000)
        let reader = ByteReader(MemoryBytes(bytes, isSequential: true))
        #expect(try reader.lookAhead(2) >= 2)
        var target = [UInt8](repeating: 0, count: bytes.count)
        let none = try reader.read(into: &target, from: 0, count: 0)
        #expect(none == 0)
        try reader.readExactly(into: &target, from: 0, count: bytes.count)
        #expect(target == bytes)
    }
}
