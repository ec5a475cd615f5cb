import TestSupport

@testable import MigrationArchive

/// Streams that end too early, or continue behind their end.
extension HostileCase {
    static let structure = endings + headers

    private static let sample = framed { $0.add("f", content: [UInt8](repeating: 7, count: 700)) }
    private static let tree = ["after 5", "before 6", "f 700"]

    private static func cut(_ name: String, at count: Int) -> HostileCase {
        HostileCase(name, .refused, bytes: [UInt8](sample.prefix(count)))
    }

    private static let endings = [
        cut("end in a header", at: 1224),
        cut("end in content", at: 1600),
        cut("end in padding", at: 2400),
        HostileCase("no end mark", .accepted(tree), bytes: [UInt8](sample.dropLast(1024))),
        HostileCase("half an end mark", .accepted(tree), bytes: [UInt8](sample.dropLast(512))),
        HostileCase("garbage behind the end", .accepted(tree), bytes: sample + [1, 2, 3]),
        HostileCase("archive behind the end", .refused, bytes: sample + sample),
        HostileCase("zero block in the middle", .refused, bytes: sample.dropLast(512) + sample),
        HostileCase("no bytes", .noArchive, bytes: []),
        HostileCase("no tar", .noArchive, bytes: text(2000)),
        HostileCase("nothing but zeros", .noArchive, bytes: [UInt8](repeating: 0, count: 1024)),
        HostileCase("gzip by its first bytes", .refused, bytes: [0x1F, 0x8B] + text(1000)),
    ]

    private static let headers = [
        refused("checksum that is wrong") { tar in
            var other = RawTar()
            other.add("f")
            var block = other.bytes
            block[0] ^= 1
            tar.append(block)
        },
        accepted("checksum of signed bytes", ["\u{E9} 0"]) { tar in
            var other = RawTar()
            other.add("\u{E9}")
            tar.append(other.bytes.withSignedChecksum())
        },
        HostileCase("extended header at the end", .refused, bytes: danglingRecords),
        HostileCase("long name at the end", .refused, bytes: danglingName),
        HostileCase(
            "extended header without an end mark",
            .refused,
            bytes: danglingRecords.dropLast(1024)
        ),
        refused("extended header of 2 GiB") {
            $0.add("x", type: "x", size: [UInt8]("20000000000".utf8))
        },
        refused("long name of 1 GiB") {
            $0.add("L", type: "L", size: [UInt8]("10000000000".utf8), magic: .gnu)
        },
        refused("global header with a path") {
            $0.addRecords([("path", "../outside")], type: "g")
            $0.add("f")
        },
        refused("global header with a size") {
            $0.addRecords([("size", "1024")], type: "g")
            $0.add("f")
        },
        accepted("garbage in a header's padding", ["f 0"]) {
            $0.add("f", fields: [(501, [UInt8](repeating: 0xAA, count: 11))])
        },
        accepted("3000 directories", (1...3000).map { "\($0)/" }) { tar in
            for number in 1...3000 { tar.add("\(number)/", type: "5") }
        },
    ]

    private static let danglingRecords = dangling { $0.addRecords([("path", "f")]) }
    private static let danglingName = dangling {
        $0.add("L", type: "L", content: [UInt8]("long\0".utf8), magic: .gnu)
    }

    private static func dangling(_ make: (inout RawTar) -> Void) -> [UInt8] {
        var tar = RawTar()
        tar.add("before", content: [UInt8]("before".utf8))
        make(&tar)
        return tar.ended()
    }
}

extension [UInt8] {
    /// A header block with the checksum that old programs made of signed bytes.
    fileprivate func withSignedChecksum() -> [UInt8] {
        var block = self
        for index in 148..<156 { block[index] = UInt8(ascii: " ") }
        let sum = block.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }
        let digits = String(sum, radix: 8)
        let padding = String(repeating: "0", count: 6 - digits.count)
        block.replaceSubrange(148..<156, with: (padding + digits + "\0 ").utf8)
        return block
    }
}
