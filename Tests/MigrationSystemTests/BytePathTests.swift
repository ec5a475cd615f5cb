import Foundation
import MigrationSystem
import Testing
import TestSupport

@Suite(.scratchDirectory)
struct BytePathTests {
    private let scratch: String

    init() throws {
        // The temporary directory itself may be reached through a link.
        let url = try #require(ScratchDirectory.current)
        scratch = try BytePath(resolving: BytePath(url.path)).text
    }

    private func resolve(_ path: String) throws -> BytePath {
        try BytePath(resolving: BytePath(path))
    }

    private func name(_ name: String, in parent: String) -> BytePath {
        BytePath(parent) / [UInt8](name.utf8)
    }

    @Test(arguments: ["a", "a/", "a///", "./a", "b/../a", ".//a"])
    func `finds the parent of what may be missing`(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch + "/b",
            withIntermediateDirectories: false
        )
        #expect(try resolve(scratch + "/" + path) == name("a", in: scratch))
    }

    @Test(arguments: [".", "./", "b/..", "b/../", "../x", "b/."])
    func `resolves a path whose last component is no name`(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch + "/b",
            withIntermediateDirectories: false
        )
        if path == "../x" {
            #expect(throws: Never.self) { try resolve(scratch + "/b/../x") }
            return
        }
        let expected = path == "b/." ? scratch + "/b" : scratch
        #expect(try resolve(scratch + "/" + path) == BytePath(expected))
    }

    @Test func `resolves links on the way and keeps the last one`() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: scratch + "/b", withIntermediateDirectories: false)
        try files.createSymbolicLink(atPath: scratch + "/l", withDestinationPath: "b")
        #expect(try resolve(scratch + "/l") == name("l", in: scratch))
        #expect(try resolve(scratch + "/l/") == name("l", in: scratch))
        #expect(try resolve(scratch + "/l/c") == name("c", in: scratch + "/b"))
        #expect(try resolve(scratch + "/l/.") == BytePath(scratch + "/b"))
    }

    @Test func `names the root and what lies in it`() throws {
        #expect(try resolve("/") == "/")
        #expect(try resolve("/a") == name("a", in: "/"))
        #expect(try resolve("//a") == "/a")
        #expect(try resolve("/..") == "/")
    }

    @Test func `keeps names that are not valid UTF-8`() throws {
        let path = BytePath(scratch) / [0xFF, 0xE9]
        #expect(try BytePath(resolving: path).lastComponent == [0xFF, 0xE9])
    }

    @Test func `fails where a parent is missing or no directory`() throws {
        let missing = #expect(throws: SystemError.self) { try resolve(scratch + "/no/a") }
        #expect(missing?.isMissing == true)
        #expect(FileManager.default.createFile(atPath: scratch + "/f", contents: nil))
        let file = #expect(throws: SystemError.self) { try resolve(scratch + "/f/a/b") }
        #expect(file?.isNotDirectory == true)
    }

    @Test(
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a/b//", "a", "b"), ("a", ".", "a"),
            ("/", "/", ""), ("//", "/", ""), ("/a//b", "/a/", "b"),
        ] as [(BytePath, BytePath, BytePath)]
    )
    func `ends with a name in its parent`(_ path: BytePath, _ parent: BytePath, _ name: BytePath) {
        #expect(path.parent == parent)
        #expect(path.lastComponent == name.bytes)
    }

    @Test(
        arguments: [
            ("/a/b", "/a", "/c", "/c/b"), ("/a", "/a", "/c", "/c"), ("/ab", "/a", "/c", nil),
            ("/a/b", "/", "/c", "/c/a/b"), ("/", "/", "/c", "/c"), ("/a/b", "/a", "/", "/b"),
            ("a", "/", "/c", nil), ("/a", "/a/b", "/c", nil),
        ] as [(BytePath, BytePath, BytePath, BytePath?)]
    )
    func `moves with the directory that it is in`(
        _ path: BytePath,
        _ directory: BytePath,
        _ other: BytePath,
        _ moved: BytePath?
    ) {
        #expect(path.moved(from: directory, to: other) == moved)
        #expect(path.isEqual(toOrBelow: directory) == (moved != nil))
    }

    @Test func `loses slashes at its end, but not the root's`() {
        #expect(BytePath("/a//").trimmed == "/a")
        #expect(BytePath("///").trimmed == "/")
        #expect(BytePath("").trimmed == "")
        #expect(BytePath.root / "a" == "/a")
        #expect(BytePath("a") / "b" == "a/b")
    }
}
