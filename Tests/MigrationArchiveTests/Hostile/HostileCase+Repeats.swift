@testable import MigrationArchive

/// Paths and headers that come more than once.
extension HostileCase {
    static let repeats = [
        accepted("file that comes twice", ["a 2"]) {
            $0.add("a", content: [1])
            $0.add("a", content: [1, 2])
        },
        accepted("path in two spellings", ["a/", "a/b 2"]) {
            $0.add("a/b", content: [1])
            $0.add("./a//b", content: [1, 2])
        },
        accepted("directory that comes twice", ["d/", "d/f 1"]) {
            $0.add("d/", type: "5")
            $0.add("d/f", content: [1])
            $0.add("d", type: "5")
        },
        accepted("directory in place of a file", ["a/", "a/b 1"]) {
            $0.add("a", content: [1])
            $0.add("a/", type: "5")
            $0.add("a/b", content: [1])
        },
        refused("file in place of a directory") {
            $0.add("a/", type: "5")
            $0.add("a/b", content: [1])
            $0.add("a", content: [1])
        },
        refused("parent that is a file") {
            $0.add("a", content: [1])
            $0.add("a/b", content: [1])
        },
        accepted("names that differ in case", ["A 0", "a 1"]) {
            $0.add("A")
            $0.add("a", content: [1])
        },
        accepted("names that differ in composition", ["e\u{301} 1", "\u{E9} 0"]) {
            $0.add("\u{E9}")
            $0.add("e\u{301}", content: [1])
        },
        accepted("record that comes twice", ["last 0"]) {
            $0.addRecords([("path", "first"), ("path", "last")])
            $0.add("none")
        },
        accepted("two extended headers", ["last 0"]) {
            $0.addRecords([("path", "first")])
            $0.addRecords([("path", "last")])
            $0.add("none")
        },
        accepted("extended header before a long name", ["pax 0"]) {
            $0.addRecords([("path", "pax")])
            $0.add("L", type: "L", content: [UInt8]("long\0".utf8), magic: .gnu)
            $0.add("none")
        },
        accepted("long name before an extended header", ["pax 0"]) {
            $0.add("L", type: "L", content: [UInt8]("long\0".utf8), magic: .gnu)
            $0.addRecords([("path", "pax")])
            $0.add("none")
        },
        accepted("2000 extended headers", ["f 0"]) { tar in
            for _ in 0..<2000 { tar.addRecords([("comment", "c")]) }
            tar.add("f")
        },
    ]
}
