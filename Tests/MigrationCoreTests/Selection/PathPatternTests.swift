import Testing

@testable import MigrationCore

@Suite struct PathPatternTests {
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
        Row("/*.tmp", "a.tmp", true), Row("/*.tmp", "a/b.tmp", false),
        Row("/a/", "a", true, isDirectory: true), Row("/a/", "x/a", false, isDirectory: true),
        Row("**/x", "x", true), Row("**/x", "a/x", true), Row("**/x", "a/b/x", true),
        Row("**/x", "a/bx", false), Row("**/x/y", "a/x/y", true), Row("**/x/y", "x/a/y", false),
        Row("a/**", "a/b", true), Row("a/**", "a/b/c", true), Row("a/**", "a", false),
        Row("a/**", "b/a/c", false), Row("a/**/b", "a/b", true), Row("a/**/b", "a/x/b", true),
        Row("a/**/b", "a/x/y/b", true), Row("a/**/b", "a/x/y/bc", false),
        Row("a/**/b/**/c", "a/b/x/b/c", true), Row("a/**/b/**/c", "a/x/c", false),
        Row("**/a/*.tmp", "x/a/y/a/z.tmp", true), Row("**", "a/b", true), Row("**/", "a", false),
        Row("\\!a", "!a", true),
        Row("e\u{301}", "\u{E9}", false), Row("a?b", "a/b", false), Row("a[/]b", "a/b", false),
    ]

    @Test(arguments: rows)
    func `matches as the shell does`(_ row: Row) throws {
        let pattern = try PathPattern(row.pattern)
        #expect(
            pattern.matches([UInt8](row.path.utf8), isDirectory: row.isDirectory) == row.matches
        )
    }

    @Test func `matches in little time however many stars it has`() throws {
        let pattern = try PathPattern((0..<30).map { _ in "**/a" }.joined(separator: "/") + "/b")
        let path = (0..<2_000).map { _ in "a" }.joined(separator: "/")
        #expect(!pattern.matches([UInt8](path.utf8), isDirectory: false))
    }

    @Test func `stands for what is below`() throws {
        let pattern = try PathPattern("cache/")
        func matches(_ path: String) -> Bool {
            pattern.matches([UInt8](path.utf8), isDirectory: false, orAbove: true)
        }
        #expect(matches("a/cache/b/c"))
        #expect(!matches("a/cache"))
    }

    @Test func `matches bytes that are no UTF-8`() throws {
        #expect(try PathPattern("?x").matches([0xFF, UInt8(ascii: "x")], isDirectory: false))
    }

    @Test(
        arguments: [
            "", "/", "//", "!a", "a**", "**a/b", "a/b**c", "***", "a\u{0}b", ".", "./", "././a",
            "a//b", "a/./b", "../a",
            "a/..", "a//", ".//a", "\\", "./\\", "a\\\\\\",
        ]
    )
    func `refuses what matches no path`(_ text: String) throws {
        let error = #expect(throws: MigrationError.self) { try PathPattern(text) }
        #expect(error?.code == .invalidOption)
    }

    @Test func `goes through a path of any depth once`() throws {
        let path = [UInt8]((String(repeating: "a/", count: 32_000) + "f").utf8)
        for (pattern, isFound) in [
            ("a/**/f", true), ("**/a/**/b", false), ("*.txt", false), ("a/a/", true), ("f", true),
        ] {
            let pattern = try PathPattern(pattern)
            #expect(pattern.matches(path, isDirectory: false, orAbove: true) == isFound)
        }
    }
}
