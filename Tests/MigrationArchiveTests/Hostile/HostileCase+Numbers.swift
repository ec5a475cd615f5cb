import TestSupport

@testable import MigrationArchive

/// Impossible sizes and times, and numbers that readers understand differently.
extension HostileCase {
    static let numbers = sizes + sizeRecords + times

    private static func octal(_ digits: String) -> [UInt8] { [UInt8](digits.utf8) }

    private static let sizes = [
        refused("size below zero") { $0.add("f", size: RawTar.base256(-512), magic: .gnu) },
        refused("size of all there is") { $0.add("f", size: RawTar.base256(.max), magic: .gnu) },
        refused("size of 2 to the 90th") {
            $0.add("f", size: [0x80, 4] + [UInt8](repeating: 0, count: 10), magic: .gnu)
        },
        refused("size past the end") { $0.add("f", size: octal("77777777777")) },
        refused("size that is not octal") { $0.add("f", size: octal("0000000009x")) },
        accepted("size of blanks", ["f 0"]) { $0.add("f", size: octal("            ")) },
        accepted("size without an end", ["f 3"]) {
            $0.add("f", content: [1, 2, 3], size: octal("000000000003"))
        },
        accepted("directory that claims a size", ["d/"]) {
            $0.add("d/", type: "5", size: octal("00000002000"))
        },
    ]

    private static let sizeRecords = [
        accepted("record size over a header of none", ["f 1024"]) {
            $0.addRecords([("size", "1024")])
            $0.add("f", content: hidden, size: octal("00000000000"))
        },
        refused("record size under the header's") {
            $0.addRecords([("size", "0")])
            $0.add("f", content: [UInt8](repeating: 7, count: 1024))
        },
        refused("record size below zero") {
            $0.addRecords([("size", "-1")])
            $0.add("f")
        },
        refused("record size that is none") {
            $0.addRecords([("size", "abc")])
            $0.add("f")
        },
        refused("record size of 2 to the 64th") {
            $0.addRecords([("size", "18446744073709551616")])
            $0.add("f")
        },
        accepted("record size before a long name", ["long 1024"]) {
            $0.addRecords([("size", "1024")])
            $0.add("L", type: "L", content: [UInt8]("long\0".utf8), magic: .gnu)
            $0.add("short", content: hidden, size: octal("00000000000"))
        },
    ]

    /// An entry that is only visible to readers that trust the wrong one of two sizes.
    private static var hidden: [UInt8] {
        var tar = RawTar()
        tar.add("hidden", content: [1])
        return tar.bytes
    }

    private static let times = [
        accepted("time with a fraction", ["f 0"]) {
            $0.addRecords([("mtime", "1700000000.123456789")])
            $0.add("f")
        },
        accepted("time before 1970 with a fraction", ["f 0"]) {
            $0.addRecords([("mtime", "-1.5")])
            $0.add("f")
        },
        refused("time that is none") {
            $0.addRecords([("mtime", "soon")])
            $0.add("f")
        },
        refused("time of 30 digits") {
            $0.addRecords([("mtime", String(repeating: "9", count: 30))])
            $0.add("f")
        },
        accepted("owner of 2 to the 40th", ["f 0"]) {
            $0.add("f", fields: [(108, [0x80, 0, 1, 0, 0, 0, 0, 0])])
        },
    ]
}
