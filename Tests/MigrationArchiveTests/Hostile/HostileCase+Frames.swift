import CZstd
import TestSupport

@testable import MigrationArchive

/// Compressed tars whose frames are damaged, claim too much, or hide something.
extension HostileCase {
    static let frames = whole + damaged + seekTables

    private static let tar = framed { $0.add("f", content: text(3000)) }
    private static let tree = ["after 5", "before 6", "f 3000"]
    private static let frame = compressed(tar)

    private static let whole = [
        HostileCase("frame", .accepted(tree), bytes: frame),
        HostileCase(
            "frames cut in an entry",
            .accepted(tree),
            bytes: compressed([UInt8](tar[..<1800])) + compressed([UInt8](tar[1800...]))
        ),
        HostileCase("bytes in a skippable frame", .accepted(tree), bytes: frame + skippable(tar)),
        HostileCase(
            "20000 empty frames",
            .accepted(tree),
            bytes: [UInt8](repeatElement(compressed([]), count: 20_000).joined()) + frame
        ),
        HostileCase(
            "32 MiB of zeros in 3 KiB",
            .accepted(["after 5", "before 6", "zeros 33554432"]),
            bytes: compressed(
                framed { $0.add("zeros", content: [UInt8](repeating: 0, count: 32 << 20)) }
            )
        ),
    ]

    private static let damaged = [
        HostileCase("frame cut", .refused, bytes: [UInt8](frame.dropLast(9))),
        HostileCase("frame with a wrong sum", .refused, bytes: frame.flipping(frame.count - 1)),
        HostileCase("frame with a wrong bit", .refused, bytes: frame.flipping(frame.count / 2)),
        HostileCase("garbage behind a frame", .refused, bytes: frame + [1, 2, 3, 4, 5]),
        HostileCase(
            "unknown frame behind a frame",
            .refused,
            bytes: frame + [0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0]
        ),
        HostileCase(
            "window of 2 GiB",
            .refused,
            bytes: [0x28, 0xB5, 0x2F, 0xFD, 0x00, 21 << 3, 0x01, 0x00, 0x00]
        ),
        HostileCase(
            "frame that needs a dictionary",
            .refused,
            bytes: [0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 0x01, 0x00, 0x00]
        ),
        HostileCase(
            "skippable frame of 4 GiB",
            .refused,
            bytes: frame + [0x50, 0x2A, 0x4D, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0]
        ),
        HostileCase(
            "frame of version 0_5",
            .noArchive,
            bytes: [0x25, 0xB5, 0x2F, 0xFD] + [UInt8](frame.dropFirst(4))
        ),
        HostileCase("frame of nothing", .refused, bytes: compressed([])),
    ]

    private static let seekTables = [
        HostileCase(
            "seek table",
            .accepted(tree),
            bytes: frame + seekTable([(frame.count, tar.count)])
        ),
        HostileCase(
            "seek table of other sizes",
            .refused,
            bytes: frame + seekTable([(frame.count + 1, tar.count)])
        ),
        HostileCase(
            "seek table of a larger content",
            .refused,
            bytes: frame + seekTable([(frame.count, 1 << 30)])
        ),
        HostileCase(
            "seek table of 134 million frames",
            .refused,
            bytes: frame + seekTable([(frame.count, tar.count)], count: 0x0800_0000)
        ),
        HostileCase(
            "seek table with unknown bits",
            .refused,
            bytes: frame + seekTable([(frame.count, tar.count)], descriptor: 0x40)
        ),
    ]

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let count = ZSTD_compress2(context, &output, output.count, bytes, bytes.count)
        return [UInt8](output.prefix(count))
    }

    private static func skippable(_ content: [UInt8], magic: UInt32 = 0x184D_2A50) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(magic)
        bytes.appendLittleEndian(UInt32(content.count))
        return bytes + content
    }

    private static func seekTable(
        _ sizes: [(Int, Int)],
        count: Int? = nil,
        descriptor: UInt8 = 0
    ) -> [UInt8] {
        var content: [UInt8] = []
        for (compressed, decompressed) in sizes {
            content.appendLittleEndian(UInt32(compressed))
            content.appendLittleEndian(UInt32(decompressed))
        }
        content.appendLittleEndian(UInt32(count ?? sizes.count))
        content.append(descriptor)
        content.appendLittleEndian(FrameFormat.seekTableFooterMagic)
        return skippable(content, magic: FrameFormat.seekTableMagic)
    }
}

extension [UInt8] {
    fileprivate func flipping(_ index: Int) -> [UInt8] {
        var bytes = self
        bytes[index] ^= 1
        return bytes
    }
}
