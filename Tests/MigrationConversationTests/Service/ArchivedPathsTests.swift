import MigrationArchive
import Testing

@testable import MigrationConversation

struct ArchivedPathsTests {
    @Test func `gives the directories that a path lacks, from the root down`() throws {
        var paths = ArchivedPaths()
        _ = try paths.insert(EntryPath("a/b"), isDirectory: true)
        let missing = try paths.insert(EntryPath("a/b/c/d/e"), isDirectory: false)
        #expect(Array(missing) == [EntryPath("a/b/c"), EntryPath("a/b/c/d")])
        #expect(try Array(paths.insert(EntryPath("a/b/c/d/f"), isDirectory: false)) == [])
    }
}
