import MigrationCore
import MigrationSystem
import TestSupport
import Testing

/// The directories that an extension may export from.
@Suite(.scratchDirectory)
struct SourceRootsTests {
    private func makeRoots() throws -> (SourceRoots, BytePath) {
        let container = try BytePath(resolving: BytePath.scratch / "container")
        for path: BytePath in [
            "", ".migration", ".migration/deep", ".migration/deep/er", "a", "a/b",
        ] {
            try (path == "" ? container : container / path).makeDirectory()
        }
        var roots = SourceRoots()
        try roots.add(container, .container)
        return (roots, container)
    }

    @Test(arguments: ["a", "a/b", "a/b/file", "missing"])
    func `hold an item by its open directory`(_ path: String) throws {
        var (roots, container) = try makeRoots()
        let location = try roots.locate(container / BytePath(path))
        #expect(location.path == [UInt8](path.utf8) && location.kind == .container)
    }

    @Test(arguments: [
        ".migration", ".migration/file", ".migration/deep/file", ".migration/deep/er/file",
    ])
    func `never give the bookkeeping, or what lies in it`(_ path: String) throws {
        var (roots, container) = try makeRoots()
        #expect(throws: MigrationError.self) { try roots.locate(container / BytePath(path)) }
    }
}
