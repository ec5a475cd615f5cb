import Testing

@testable import MigrationArchive

struct PathRulesTests {
    @Test(arguments: [
        "a", "a/b", "...", "..a/b..", "a/...", " ", "\\..\\x", "a\nb", "-", ".hidden",
        String(repeating: "n", count: 255),
    ])
    func `takes names between single slashes`(_ path: String) {
        #expect(EntryPath(path).violation == nil)
    }

    @Test(arguments: [
        ("", "the path is empty"), ("/", "the path is absolute"), ("/a", "the path is absolute"),
        ("//a", "the path is absolute"), ("a/", "the path has an empty component"),
        ("a//b", "the path has an empty component"), (".", "the path has a '.' component"),
        ("./a", "the path has a '.' component"), ("a/.", "the path has a '.' component"),
        ("..", "the path has a '..' component"), ("../a", "the path has a '..' component"),
        ("a/../b", "the path has a '..' component"), ("a/..", "the path has a '..' component"),
        ("a\0b", "the path holds a zero byte"),
        (String(repeating: "n", count: 256), "a name in the path is longer than 255 bytes"),
    ])
    func `refuses everything else`(_ path: String, _ violation: String) {
        #expect(EntryPath(path).violation == violation)
    }

    @Test func `takes paths up to 65,535 bytes`() {
        let component = String(repeating: "n", count: 255)
        let longest = Array(repeating: component, count: 256).joined(separator: "/")
        #expect(longest.utf8.count == 65_535)
        #expect(EntryPath(longest).violation == nil)
        #expect(EntryPath(longest + "/n").violation == "the path is longer than 65,535 bytes")
    }

    @Test(arguments: [(0, false), (1, true), (4095, true), (4096, false)])
    func `takes link targets up to 4,095 bytes`(_ count: Int, _ isTaken: Bool) {
        let target = [UInt8](repeating: UInt8(ascii: "/"), count: count)
        #expect((PathRules.violation(ofLinkTarget: target) == nil) == isTaken)
    }

    @Test func `refuses a zero byte in a link's target`() {
        #expect(PathRules.violation(ofLinkTarget: [0x61, 0]) != nil)
    }

    @Test(arguments: [
        ("l", "a", false), ("l", ".", false), ("l", "..", true), ("l", "/a", true),
        ("l", "/", true),
        ("a/l", "..", false), ("a/l", "../..", true), ("a/l", "../b/../c", false),
        ("a/l", "../b/../../c", true), ("a/b/l", "../../c", false), ("a/b/l", "../../../c", true),
        ("l", "a/../..", true), ("l", "a/./..", false), ("l", "a//..//b", false),
        ("l", "...", false),
        ("l", "..a", false), ("a/l", "./../../a", true),
    ])
    func `tells links that lead out`(_ path: String, _ target: String, _ leadsOut: Bool) {
        #expect(EntryPath(path).leadsOut(withTarget: [UInt8](target.utf8)) == leadsOut)
    }

    @Test(arguments: [
        ("a", "a", true), ("a/b", "a", true), ("ab", "a", false), ("a", "a/b", false),
        ("b", "a", false),
    ])
    func `tells what lies below a path`(_ path: String, _ other: String, _ isBelow: Bool) {
        #expect(EntryPath(path).isEqual(toOrBelow: EntryPath(other)) == isBelow)
    }

    @Test func `keeps names apart that Swift's strings hold to be equal`() {
        #expect(EntryPath("caf\u{E9}") != EntryPath("cafe\u{301}"))
    }
}
