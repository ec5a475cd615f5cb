import Testing

@testable import MigrationArchive

struct ArchivedPathsTests {
    @Test func `gives the directories that a path lacks, from the root down`() throws {
        var paths = ArchivedPaths()
        _ = try paths.insert(EntryPath("a/b"), isDirectory: true)
        let missing = try paths.insert(EntryPath("a/b/c/d/e"), isDirectory: false)
        #expect(missing == ["a/b/c".utf8.count, "a/b/c/d".utf8.count])
        #expect(try Array(paths.insert(EntryPath("a/b/c/d/f"), isDirectory: false)) == [])
    }
}
