import Testing

@testable import MigrationArchive

struct UstarBlockTests {
    /// A block whose 12-byte size field holds `bytes`, the rest of it zeros.
    private func block(_ bytes: [UInt8]) -> UstarBlock {
        var block = UstarBlock()
        block.copy(bytes.span, to: UstarBlock.Field.size.lowerBound)
        return block
    }

    @Test(
        arguments: [
            ("00000000000\0", 0), ("77777777777\0", 0o77_777_777_777),
            ("777777777777", 0o777_777_777_777),
            ("      12 \0\0\0", 0o12), ("12", 0o12), ("            ", 0), ("", 0), ("12 ", 0o12),
            ("18", nil), ("1x", nil), ("x", nil), ("-1", nil), ("1\01", nil), ("1 1", nil),
        ] as [(String, Int64?)]
    )
    func `reads octal numbers with blanks around them`(_ text: String, _ value: Int64?) {
        let block = block([UInt8](text.utf8))
        #expect(block.octal(at: UstarBlock.Field.size) == value.map { UInt64($0) })
        #expect(block.number(at: UstarBlock.Field.size) == value)
    }

    @Test func `refuses octal numbers over 64 bits`() {
        var block = UstarBlock()
        block.copy([UInt8]("2000000000000000000000".utf8).span, to: 0)
        #expect(block.octal(at: 0..<22) == nil)
        block.copy([UInt8]("1777777777777777777777".utf8).span, to: 0)
        #expect(block.octal(at: 0..<22) == .max)
        #expect(block.number(at: 0..<22) == nil)
    }

    @Test(
        arguments: [
            ([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2], 258),
            ([0x80, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .max),
            ([0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0], nil),
            ([0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil),
            ([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], nil),
            ([UInt8](repeating: 0xFF, count: 12), -1),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], -2),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], .min),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], nil),
            ([0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], nil),
        ] as [([UInt8], Int64?)]
    )
    func `reads numbers in base 256`(_ bytes: [UInt8], _ value: Int64?) {
        #expect(block(bytes).number(at: UstarBlock.Field.size) == value)
        #expect(block(bytes).octal(at: UstarBlock.Field.size) == nil)
    }

    @Test func `takes checksums of signed and of unsigned bytes and no others`() {
        var bytes = [UInt8](repeating: 0, count: 512)
        bytes[0] = 0xE9
        for (sum, isValid) in [(0xE9 + 256, true), (0xE9 + 255, false), (256, false)] {
            let digits = String(sum, radix: 8)
            bytes.replaceSubrange(148..<148 + digits.count, with: digits.utf8)
            #expect(UstarBlock(copying: bytes[...]).hasValidChecksum == isValid)
        }
        // 256 for the spaces less the 23 that 0xE9 counts as when it is signed.
        bytes.replaceSubrange(148..<156, with: "351\0\0\0\0\0".utf8)
        #expect(UstarBlock(copying: bytes[...]).hasValidChecksum)
    }

    @Test func `reads text up to the first zero or the end of the field`() {
        var block = UstarBlock()
        block.copy([UInt8]("ab\0cd".utf8).span, to: 0)
        #expect(block.text(at: 0..<5) == [UInt8]("ab".utf8))
        #expect(block.text(at: 3..<5) == [UInt8]("cd".utf8))
        #expect(block.text(at: 2..<5) == [])
    }

    @Test func `tells the formats apart by their magic`() {
        var block = UstarBlock()
        #expect(!block.isPOSIX)
        block.copy([UInt8]("ustar\u{0}00".utf8).span, to: 257)
        #expect(block.isPOSIX)
        block.copy([UInt8]("ustar  \0".utf8).span, to: 257)
        #expect(!block.isPOSIX)
    }
}
