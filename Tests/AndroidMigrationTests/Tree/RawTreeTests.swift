import AndroidMigration
import Foundation
import MigrationArchive
import MigrationSystem
import TestSupport
import Testing

@Suite(.scratchDirectory) struct RawTreeTests {
    private func write(_ name: String) throws {
        let url = try #require(ScratchDirectory.current).appending(path: name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data("text".utf8).write(to: url)
    }

    private func paths(_ tree: RawTree) throws -> [String] {
        var paths: [String] = []
        try tree.walk { item, _, _ in
            if case .file = item.kind { paths.append(item.path.description) }
        }
        return paths
    }

    @Test func `maps the directories of an app to the paths on iOS`() throws {
        for name in [
            "files/f", "own", "_device/files/d", "_device/own", "_external/e", "databases/x",
        ] { try write("tree/" + name) }
        let root = try #require(ScratchDirectory.current).appending(path: "tree").path
        #expect(
            try paths(RawTree(BytePath(root))) == [
                "app/own", "app/databases/x", "app/files/f", "device/app/own",
                "device/app/files/d", "external/files/e",
            ]
        )
    }

    @Test func `takes the other storages from directories of their own`() throws {
        for name in ["tree/own", "outer/e", "inner/files/d"] { try write(name) }
        let directory = try #require(ScratchDirectory.current)
        let path = { (name: String) in BytePath(directory.appending(path: name).path) }
        let tree = try RawTree(path("tree"), external: path("outer"), device: path("inner"))
        #expect(
            try paths(tree) == ["app/own", "device/app/files/d", "external/files/e"]
        )
    }

    @Test func `says which directory can't be opened`() throws {
        let error = #expect(throws: AndroidMigrationError.self) {
            try RawTree("/nowhere/at/all")
        }
        #expect(
            error?.description.contains("'/nowhere/at/all' can't be opened: No such file") ?? false
        )
    }
}
