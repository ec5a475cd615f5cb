import Testing

@testable import MigrationArchive

/// The compression of a chunk depends only on the level and on the content of the chunk.
struct FrameCompressorTests {
    /// Content in which matches are short and far apart, so that other tables find others.
    private static let content = noise(1 << 20).map { $0 & 7 + UInt8(ascii: "a") }

    private func compressed(entries: Int, level: Int, after others: [Int] = []) throws -> [UInt8] {
        var compressor = try FrameCompressor(level: level)
        var result: [UInt8] = []
        for count in others + [entries] {
            let (input, output) = (FrameBuffer(), FrameBuffer())
            let content = Self.content
            input.append(content.span)
            let mark = EntryMark(of: .file("a"), .further)
            input.marks = [EntryMark](repeating: mark, count: count)
            try compressor.compress(input, into: output)
            result = [UInt8](output.bytes.prefix(output.count))
        }
        return result
    }

    @Test func `takes smaller tables for many small files at the default level`() throws {
        let few = try compressed(entries: 7, level: 3)
        let many = try compressed(entries: 8, level: 3)
        #expect(few != many)
        #expect(try compressed(entries: 0, level: 3) == few)
        #expect(try compressed(entries: 4000, level: 3) == many)
        for level in [2, 4] {
            let all = try [7, 8].map { try compressed(entries: $0, level: level) }
            #expect(all[0] == all[1])
        }
    }

    @Test func `finds what repeats from the start of a chunk to its end`() throws {
        var compressor = try FrameCompressor(level: 3)
        let (input, output) = (FrameBuffer(), FrameBuffer())
        let content = noise(64 << 10)
        let middle = [UInt8](repeating: 0, count: FrameFormat.chunkSize - 2 * content.count)
        let chunk = content + middle + content
        input.append(chunk.span)
        try compressor.compress(input, into: output)
        #expect(output.count < content.count * 5 / 4)
    }

    @Test func `gives the same frame whatever was compressed before`() throws {
        for entries in [0, 8] {
            let alone = try compressed(entries: entries, level: 3)
            #expect(try compressed(entries: entries, level: 3, after: [8, 0, 8, 8, 0]) == alone)
            #expect(try compressed(entries: entries, level: 3, after: [0, 0, 8]) == alone)
        }
    }
}
