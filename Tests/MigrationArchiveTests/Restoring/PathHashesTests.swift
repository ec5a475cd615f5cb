import Testing

@testable import MigrationArchive

struct PathHashesTests {
    @Test func `knows what it was given, once`() throws {
        var hashes = PathHashes(of: "paths")
        #expect(!hashes.contains(EntryPath("a")))
        #expect(try hashes.insert(EntryPath("a")))
        #expect(try !hashes.insert(EntryPath("a")))
        #expect(hashes.contains(EntryPath("a")))
        #expect(!hashes.contains(EntryPath("b")))
    }

    @Test func `refuses more paths than it may take, and names the one`() throws {
        var hashes = PathHashes(of: "paths", limit: 2)
        for name in ["a", "b", "a"] { try hashes.insert(EntryPath(name)) }
        let error = #expect(throws: ArchiveError.self) { try hashes.insert(EntryPath("c")) }
        #expect(error?.code == .refused)
        #expect(error?.entry == EntryPath("c"))
        #expect(error?.message == "the archive holds too many paths")
    }

    @Test func `hashes a path and the directories above it in one pass`() throws {
        let path = EntryPath("a/bc/d\u{e9}/e")
        let above = ["a", "a/bc", "a/bc/d\u{e9}", "a/bc/d\u{e9}/e"].map { EntryPath($0) }
        #expect(path.levelHashes == above.map(\.levelHash))
        #expect((1...4).map { path.ancestor(atDepth: $0) } == above)
        #expect(EntryPath("ab/c").levelHash != EntryPath("a/bc").levelHash)
    }
}
