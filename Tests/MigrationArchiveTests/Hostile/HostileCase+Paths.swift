import TestSupport

@testable import MigrationArchive

/// Names that lead out, impossible names, and odd ones.
extension HostileCase {
    static let paths = leadingOut + oddNames + deepNames

    private static let leadingOut = [
        refused("path absolute") { $0.add("/outside/pwned") },
        refused("path absolute by two slashes") { $0.add("//outside/pwned") },
        refused("path of dots first") { $0.add("../outside/pwned") },
        refused("path of dots inside") { $0.add("a/../../outside/pwned") },
        refused("path of dots last") { $0.add("a/..", type: "5") },
        refused("directory of dots") { $0.add("../outside/", type: "5", mode: "0000777") },
        refused("long name of dots") {
            $0.add("L", type: "L", content: [UInt8]("../outside\0".utf8), magic: .gnu)
            $0.add("harmless")
        },
        refused("record path of dots") {
            $0.addRecords([("path", "../outside")])
            $0.add("harmless")
        },
        refused("record path absolute") {
            $0.addRecords([("path", "/outside")])
            $0.add("harmless")
        },
        refused("prefix absolute") { $0.add("pwned", fields: [(345, [UInt8]("/outside".utf8))]) },
        refused("prefix of dots") { $0.add("pwned", fields: [(345, [UInt8]("../out".utf8))]) },
        refused("record path with a zero byte") {
            $0.addRecords([("path", "good\0/../../outside")])
            $0.add("harmless")
        },
        refused("path empty") { $0.add("") },
        refused("path of 256 bytes in one name") {
            $0.addRecords([("path", String(repeating: "n", count: 256))])
            $0.add("harmless")
        },
    ]

    private static let oddNames = [
        accepted("backslashes and dots", [#"..\..\outside 1"#]) {
            $0.add(#"..\..\outside"#, content: [1])
        },
        accepted("control bytes", ["\u{1B}]0;x\u{7}\n\r 0"]) { $0.add("\u{1B}]0;x\u{7}\n\r") },
        accepted("bytes that are no UTF-8", ["x\u{FFFD}\u{FFFD}y 0"]) {
            $0.add("x", fields: [(1, [0xFF, 0xFE, UInt8(ascii: "y")])])
        },
        accepted("text in reverse", ["\u{202E}gpj.exe 0"]) { $0.add("\u{202E}gpj.exe") },
        accepted("names of Windows", ["CON 0", "a:b 0", "trailing. 0"]) {
            for name in ["CON", "a:b", "trailing."] { $0.add(name) }
        },
        accepted("names that only hold dots", ["... 0", "..a 0", "a.. 0"]) {
            for name in ["...", "..a", "a.."] { $0.add(name) }
        },
        accepted("name of 255 bytes", [String(repeating: "n", count: 255) + " 0"]) {
            $0.addRecords([("path", String(repeating: "n", count: 255))])
            $0.add("n")
        },
        accepted("dots that say nothing", ["a/", "a/b 0"]) { $0.add("./a/.//b") },
        accepted("root of mode 0", []) { $0.add("./", type: "5", mode: "0000000") },
        accepted("file with a slash behind it", ["d/"]) { $0.add("d/", type: "0") },
        accepted("bytes behind a name's end", ["name 0"]) {
            $0.add("name", fields: [(5, [UInt8]("/../../outside".utf8))])
        },
    ]

    private static let deepNames = [
        accepted("path of 1000 levels", levels(1000) + [path(1000) + "/f 0"]) {
            $0.addRecords([("path", path(1000) + "/f")])
            $0.add("f")
        }
    ]

    private static func path(_ depth: Int) -> String {
        repeatElement("d", count: depth).joined(separator: "/")
    }

    private static func levels(_ depth: Int) -> [String] { (1...depth).map { path($0) + "/" } }
}
