import TestSupport

@testable import MigrationArchive

/// Extended headers whose records are malformed.
extension HostileCase {
    static let records = malformed + odd

    private static func body(_ name: String, _ records: [UInt8]) -> HostileCase {
        refused(name) {
            $0.add("PaxHeaders/x", type: "x", content: records)
            $0.add("f")
        }
    }

    private static let malformed = [
        body("record of length 0", [UInt8]("0 path=a\n".utf8)),
        body("record longer than its header", [UInt8]("99 path=a\n".utf8)),
        body("record shorter than it is", [UInt8]("8 path=abc\n".utf8)),
        body("record without a newline", [UInt8]("9 path=a ".utf8)),
        body("record without a key", [UInt8]("8 pathab\n".utf8)),
        body("record of a signed length", [UInt8]("+10 path=a\n".utf8)),
        body(
            "record of a length of 400 digits",
            [UInt8]((String(repeating: "9", count: 400) + " path=a\n").utf8)
        ),
        refused("attribute with a zero byte in its name") {
            $0.addRecords([("SCHILY.xattr.user.a\0b", "v")])
            $0.add("f")
        },
    ]

    private static let odd = [
        accepted("record of no value", ["f 0"]) {
            $0.addRecords([("path", "other"), ("path", "")])
            $0.add("f")
        },
        accepted("record that says BINARY", ["x\u{FFFD} 0"]) {
            $0.add("x", type: "x", content: binaryPath("21 hdrcharset=BINARY\n"))
            $0.add("f")
        },
        accepted("record that is no UTF-8", ["x\u{FFFD} 0"]) {
            $0.add("x", type: "x", content: binaryPath(""))
            $0.add("f")
        },
    ]

    private static func binaryPath(_ before: String) -> [UInt8] {
        [UInt8]("\(before)11 path=x".utf8) + [0xFF, UInt8(ascii: "\n")]
    }
}
