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

    @Test(arguments: [true, false])
    func `reads few bytes together with those after them`(isSequential: Bool) throws {
        let bytes = noise(200_000)
        let source = CountingBytes(bytes, isSequential: isSequential)
        let reader = ByteReader(source)
        var target = [UInt8](repeating: 0, count: bytes.count)
        for start in stride(from: 0, to: 150_000, by: 3) {
            try reader.readExactly(into: &target, from: start, count: 3)
        }
        #expect(source.calls < 100)
        try reader.readExactly(into: &target, from: 150_000, count: 50_000)
        #expect(target == bytes)
        let error = #expect(throws: ArchiveError.self) {
            try reader.readExactly(into: &target, from: 0, count: 1)
        }
        #expect(error?.code == .truncated)
    }
}
