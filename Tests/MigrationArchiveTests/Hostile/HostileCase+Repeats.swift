import TestSupport

@testable import MigrationArchive

/// Paths and headers that come more than once.
extension HostileCase {
    static let repeats = repeatedEntries + repeatedLinks + repeatedHeaders

    private static let repeatedLinks = [
        accepted("link that comes twice", ["l -> after"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("l", type: "2", link: "after")
        },
        accepted("link in place of a file", ["l -> before"]) {
            $0.add("l", content: [1])
            $0.add("l", type: "2", link: "before")
        },
        accepted("file in place of a link", ["l 1"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("l", content: [1])
        },
        accepted("directory in place of a link", ["l/", "l/f 1"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("l/", type: "5")
            $0.add("l/f", content: [1])
        },
        accepted("hard link in place of a link", ["l 6"]) {
            $0.add("l", type: "2", link: "after")
            $0.add("l", type: "1", link: "before")
        },
        accepted("link in place of a hard link", ["l -> after"]) {
            $0.add("l", type: "1", link: "before")
            $0.add("l", type: "2", link: "after")
        },
        accepted("link, file and link", ["l -> after"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("l", content: [1])
            $0.add("l", type: "2", link: "after")
        },
        accepted("hard link to a link that comes twice", ["h -> before", "l -> after"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("h", type: "1", link: "l")
            $0.add("h", type: "1", link: "l")
            $0.add("l", type: "2", link: "after")
        },
        accepted("file in place of a hard link to a link", ["h 1", "l -> before"]) {
            $0.add("l", type: "2", link: "before")
            $0.add("h", type: "1", link: "l")
            $0.add("h", content: [1])
        },
        refused("hard link to a link that a file replaces") {
            $0.add("l", type: "2", link: "before")
            $0.add("h", type: "1", link: "l")
            $0.add("l", content: [1])
        },
        refused("hard link to a link that follows") {
            $0.add("h", type: "1", link: "l")
            $0.add("l", type: "2", link: "before")
        },
        refused("link in place of a directory that is empty") {
            $0.add("l/", type: "5")
            $0.add("l", type: "2", link: "before")
        },
        refused("link that comes twice, written through") {
            $0.add("d/", type: "5")
            $0.add("l", type: "2", link: "before")
            $0.add("l", type: "2", link: "d")
            $0.add("l/f", content: [1])
        },
    ]

    private static let repeatedEntries = [
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
    ]

    private static let repeatedHeaders = [
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
