internal import CXXHash
internal import MigrationSystem

/// A frame of raw blocks (RFC 8878, 3.1.1), for content that compression would not make smaller.
///
/// The content is written in place; only the bytes around its blocks are new.
struct StoredFrame {
    private let content: FrameBuffer
    /// The bytes before, between and after the blocks, one after another.
    private let framing: [UInt8]

    private static let prologueSize = 9
    private static let blockHeaderSize = 3
    private static let blockSize = 128 * 1024

    /// Makes a frame of `content`, which must not change while the frame is in use.
    init(of content: FrameBuffer) {
        self.content = content
        framing = content.withContent { content in
            var framing = Self.prologue(contentSize: content.count)
            for start in Self.blockStarts(contentSize: content.count) {
                let rest = content.count - start
                let isLast: UInt32 = rest <= Self.blockSize ? 1 : 0
                let header = UInt32(min(rest, Self.blockSize)) << 3 | isLast
                framing += [UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)]
            }
            framing.appendLittleEndian(Self.checksum(of: content))
            return framing
        }
    }

    /// The bytes of the whole frame.
    var size: Int { framing.count + content.count }

    /// Lends the frame to `body`, in the pieces in which it is in memory.
    func withPieces<Result>(
        _ body: ([UnsafeRawBufferPointer]) throws -> Result
    ) rethrows -> Result {
        try content.withContent { content in
            try unsafe content.withUnsafeBytes { content in
                try unsafe framing.withUnsafeBytes { framing in
                    try unsafe body(Self.pieces(of: content, within: framing))
                }
            }
        }
    }

    private static func pieces(
        of content: UnsafeRawBufferPointer,
        within framing: UnsafeRawBufferPointer
    ) -> [UnsafeRawBufferPointer] {
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        var (start, end) = (0, prologueSize + blockHeaderSize)
        for block in blockStarts(contentSize: content.count) {
            let blockEnd = min(block + blockSize, content.count)
            unsafe pieces.append(.init(rebasing: framing[start..<end]))
            unsafe pieces.append(.init(rebasing: content[block..<blockEnd]))
            (start, end) = (end, end + blockHeaderSize)
        }
        unsafe pieces.append(.init(rebasing: framing[start...]))
        return unsafe pieces
    }

    private static func blockStarts(contentSize: Int) -> StrideTo<Int> {
        stride(from: 0, to: max(contentSize, 1), by: blockSize)
    }

    /// Magic, a descriptor that says "single segment, content size in 4 bytes, checksum", and the size.
    private static func prologue(contentSize: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.zstdMagic)
        bytes.append(0b1010_0100)
        bytes.appendLittleEndian(UInt32(contentSize))
        return bytes
    }

    private static func checksum(of content: Span<UInt8>) -> UInt32 {
        unsafe content.withUnsafeBytes { bytes in
            unsafe UInt32(truncatingIfNeeded: XXH64(bytes.baseAddress, bytes.count, 0))
        }
    }
}
