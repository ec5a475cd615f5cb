import CZstd
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ZstdStreamSourceTests {
    /// One frame that zstd makes of `content`.
    private func frame(_ content: [UInt8], checksum: Bool = true, windowLog: Int32 = 0) -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0)
        if windowLog > 0 {
            ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
            ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)
        }
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(content.count))
        let count = ZSTD_compress2(context, &output, output.count, content, content.count)
        return [UInt8](output.prefix(count))
    }

    private func skippable(_ content: [UInt8], magic: UInt32 = 0x184D_2A50) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(magic)
        bytes.appendLittleEndian(UInt32(content.count))
        return bytes + content
    }

    private func seekTable(_ sizes: [(Int, Int)], descriptor: UInt8 = 0) -> [UInt8] {
        var content: [UInt8] = []
        for (compressed, decompressed) in sizes {
            content.appendLittleEndian(UInt32(compressed))
            content.appendLittleEndian(UInt32(decompressed))
        }
        content.appendLittleEndian(UInt32(sizes.count))
        content.append(descriptor)
        content.appendLittleEndian(FrameFormat.seekTableFooterMagic)
        return skippable(content, magic: FrameFormat.seekTableMagic)
    }

    private func content(of bytes: [UInt8]) throws -> [UInt8] {
        try ZstdStreamSource(reading: Scratch.input(holding: bytes)).content()
    }

    private func code(_ bytes: [UInt8]) -> ArchiveError.Code? {
        #expect(throws: ArchiveError.self) { try content(of: bytes) }?.code
    }

    @Test(arguments: [0, 1, 100_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
    func `reads a frame with and without a checksum`(_ count: Int) throws {
        for original in [text(count), [UInt8](repeating: 0, count: count), noise(count)] {
            for checksum in [true, false] {
                #expect(try content(of: frame(original, checksum: checksum)) == original)
            }
        }
    }

    @Test func `reads several frames with others between them`() throws {
        let bytes =
            skippable([1, 2, 3]) + frame([1]) + frame([]) + skippable([], magic: 0x184D_2A5F)
            + frame([2, 3], windowLog: 20) + skippable([9])
        #expect(try content(of: bytes) == [1, 2, 3])
    }

    @Test func `takes a true seek table and refuses a false one`() throws {
        let frames = [frame([1]), frame([2, 3])]
        let data = frames.flatMap(\.self)
        let sizes = [(frames[0].count, 1), (frames[1].count, 2)]
        #expect(try content(of: data + seekTable(sizes)) == [1, 2, 3])
        for wrong in [
            [sizes[0]], sizes + [(1, 1)], [(sizes[0].0, 2), sizes[1]],
            [(sizes[0].0 + 1, 1), sizes[1]], [sizes[1], sizes[0]], [],
        ] {
            #expect(code(data + seekTable(wrong)) == .damaged)
        }
        #expect(code(data + seekTable(sizes, descriptor: 0x40)) == .damaged)
        let claim = skippable([1], magic: FrameFormat.seekTableMagic)
        #expect(code(data + claim) == .damaged)
    }

    @Test func `refuses what follows the last frame`() {
        for tail in [[0], [1, 2, 3], [0x28, 0xB5], [1, 2, 3, 4, 5]] as [[UInt8]] {
            #expect(code(frame([1]) + tail) == .damaged)
        }
    }

    @Test(arguments: [true, false])
    func `fails at every truncation`(_ checksum: Bool) {
        let bytes = frame(text(2000), checksum: checksum) + skippable([1, 2, 3])
        let end = frame(text(2000), checksum: checksum).count
        for count in 1..<bytes.count where count != end {
            #expect(throws: ArchiveError.self) { try content(of: [UInt8](bytes.prefix(count))) }
        }
    }

    @Test func `refuses a window over 128 MiB before it takes memory`() {
        // A header by hand: no single segment, no content size, a window of 2^31 bytes.
        let header: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3]
        #expect(code(header + [0x01, 0x00, 0x00]) == .unsupported)
        let fitting: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 17 << 3]
        #expect(throws: Never.self) { try content(of: fitting + [0x01, 0x00, 0x00]) }
    }

    @Test func `refuses a wrong checksum`() {
        var bytes = frame(text(1000))
        bytes[bytes.count - 1] ^= 1
        #expect(code(bytes) == .damaged)
    }

    @Test func `refuses a frame that needs a dictionary`() {
        let bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 0x01, 0x00, 0x00]
        #expect(code(bytes) == .damaged)
    }
}
