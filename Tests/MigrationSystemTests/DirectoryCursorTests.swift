import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory)
struct DirectoryCursorTests {
    private func components(_ path: String) -> [ArraySlice<UInt8>] {
        path.split(separator: "/").map { [UInt8]($0.utf8)[...] }
    }

    /// Makes `depth` directories one in another, each with a file named for its level.
    private func makeLevels(_ depth: Int) throws -> DirectoryCursor<OpenFile> {
        let cursor = DirectoryCursor(root: OpenFile(try Place().directory.duplicate()))
        for level in 0..<depth {
            let path = Array(repeating: [UInt8]("d".utf8)[...], count: level)
            let directory = try cursor.directory(at: path)
            try directory.descriptor.makeDirectory([UInt8]("d".utf8), permissions: 0o700)
            let name = [UInt8]("level-\(level)".utf8)
            _ = try directory.descriptor.open(name, .creating(permissions: 0o600))
        }
        return cursor
    }

    @Test func `reaches every level of a tree deeper than what stays open`() throws {
        let depth = 300
        let cursor = try makeLevels(depth)
        for level in Array((0..<depth).reversed()) + [0, 299, 100, 101, 35, 36, 200, 64, 65, 63] {
            let path = Array(repeating: [UInt8]("d".utf8)[...], count: level)
            let directory = try cursor.directory(at: path)
            let name = [UInt8]("level-\(level)".utf8)
            #expect(try directory.descriptor.status(of: name).kind == .regular)
        }
    }

    @Test func `goes from one branch to another`() throws {
        let place = try Place()
        let cursor = DirectoryCursor(root: OpenFile(try place.directory.duplicate()))
        for path in ["a", "b"] {
            try place.directory.makeDirectory([UInt8](path.utf8), permissions: 0o700)
            let directory = try cursor.directory(at: components(path))
            try directory.descriptor.makeDirectory([UInt8]("c".utf8), permissions: 0o700)
        }
        let first = try cursor.directory(at: components("a/c")).descriptor.status().identity
        let second = try cursor.directory(at: components("b/c")).descriptor.status().identity
        #expect(first != second)
        #expect(try cursor.directory(at: components("a/c")).descriptor.status().identity == first)
    }

    @Test func `fails where a component is missing, a file or a link, and goes on`() throws {
        let place = try Place()
        try place.directory.makeDirectory([UInt8]("d".utf8), permissions: 0o700)
        try place.makeFile("f")
        try place.directory.makeSymbolicLink([UInt8]("l".utf8), to: [UInt8]("d".utf8))
        let cursor = DirectoryCursor(root: OpenFile(try place.directory.duplicate()))
        #expect(systemError { _ = try cursor.directory(at: components("no/x")) }?.isMissing == true)
        for path in ["f", "f/x", "l", "l/x"] {
            let error = systemError { _ = try cursor.directory(at: components(path)) }
            #expect(error?.isNotDirectory == true, "\(path)")
        }
        #expect(throws: Never.self) { try cursor.directory(at: components("d")) }
    }

    @Test func `forgets a directory that was replaced`() throws {
        let place = try Place()
        let name = [UInt8]("d".utf8)
        try place.directory.makeDirectory(name, permissions: 0o700)
        let cursor = DirectoryCursor(root: OpenFile(try place.directory.duplicate()))
        _ = try cursor.directory(at: components("d"))
        try place.directory.removeDirectory(name)
        try place.directory.makeDirectory(name, permissions: 0o700)
        cursor.truncate(to: 0)
        let reached = try cursor.directory(at: components("d")).descriptor.status().identity
        #expect(try place.directory.status(of: name).identity == reached)
    }
}
