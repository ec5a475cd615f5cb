import Testing

@testable import MigrationCore

@Suite struct ExclusionPatternTests {
    struct Row: CustomTestStringConvertible {
        let pattern: String
        let path: String
        let isDirectory: Bool
        let matches: Bool

        init(_ pattern: String, _ path: String, _ matches: Bool, isDirectory: Bool = false) {
            self.pattern = pattern
            self.path = path
            self.isDirectory = isDirectory
            self.matches = matches
        }

        var testDescription: String { "\(pattern) \(matches ? "matches" : "passes") \(path)" }
    }

    private static let rows = [
        Row("*.tmp", "a.tmp", true), Row("*.tmp", "Documents/deep/a.tmp", true),
        Row("*.tmp", "a.tmp/b", false), Row("*.tmp", "a.tmpx", false), Row("*.tmp", ".tmp", true),
        Row("*", ".hidden", true), Row("?", "a", true), Row("?", "ab", false), Row("?", "é", false),
        Row("??", "é", true), Row("[a-c]x", "bx", true), Row("[a-c]x", "dx", false),
        Row("[!a-c]x", "dx", true), Row("\\*", "*", true), Row("\\*", "a", false),
        Row("\\\\", "\\", true),
        Row("Documents/*.tmp", "Documents/a.tmp", true),
        Row("Documents/*.tmp", "Documents/deep/a.tmp", false),
        Row("Documents/*.tmp", "Other/Documents/a.tmp", false),
        Row("Documents", "Documents", true, isDirectory: true),
        Row("Documents", "Library/Documents", true, isDirectory: true),
        Row("cache/", "Library/cache", true, isDirectory: true),
        Row("cache/", "Library/cache", false), Row("a/b/", "a/b", true, isDirectory: true),
        Row("a/b/", "x/a/b", false, isDirectory: true), Row("A.TMP", "a.tmp", false),
        Row("./a/b", "a/b", true), Row("./a", "a", true), Row("./a", "x/a", false),
        Row("./a/", "a", true, isDirectory: true), Row("...", "a/...", true),
        Row("e\u{301}", "\u{E9}", false), Row("a?b", "a/b", false), Row("a[/]b", "a/b", false),
    ]

    @Test(arguments: rows)
    func `matches as the shell does`(_ row: Row) throws {
        let pattern = try ExclusionPattern(row.pattern)
        #expect(
            pattern.matches([UInt8](row.path.utf8), isDirectory: row.isDirectory) == row.matches
        )
    }

    @Test func `matches bytes that are no UTF-8`() throws {
        #expect(try ExclusionPattern("?x").matches([0xFF, UInt8(ascii: "x")], isDirectory: false))
    }

    @Test(
        arguments: [
            "", "/", "/Documents", "//", "a\u{0}b", ".", "./", "././a", "a//b", "a/./b", "../a",
            "a/..", "a//", ".//a", "\\", "./\\", "a\\\\\\",
        ]
    )
    func `refuses what matches no path`(_ text: String) throws {
        let error = #expect(throws: MigrationError.self) { try ExclusionPattern(text) }
        #expect(error?.code == .invalidOption)
    }
}
