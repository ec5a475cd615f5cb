import Foundation
import MigrationSystem
import Testing
import TestSupport

@Suite(.scratchDirectory)
struct PathNameTests {
    private let scratch: String

    init() throws {
        // The temporary directory itself may be reached through a link.
        let url = try #require(ScratchDirectory.current)
        let path = [UInt8](url.path.utf8)
        scratch = String(decoding: try PathName(resolving: path).path, as: UTF8.self)
    }

    private func resolve(_ path: String) throws -> PathName {
        try PathName(resolving: [UInt8](path.utf8))
    }

    private func name(_ name: String, in parent: String) -> PathName {
        PathName(parent: [UInt8](parent.utf8), name: [UInt8](name.utf8))
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
        #expect(try resolve(scratch + "/" + path).path == [UInt8](expected.utf8))
    }

    @Test func `resolves links on the way and keeps the last one`() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: scratch + "/b", withIntermediateDirectories: false)
        try files.createSymbolicLink(atPath: scratch + "/l", withDestinationPath: "b")
        #expect(try resolve(scratch + "/l") == name("l", in: scratch))
        #expect(try resolve(scratch + "/l/") == name("l", in: scratch))
        #expect(try resolve(scratch + "/l/c") == name("c", in: scratch + "/b"))
        #expect(try resolve(scratch + "/l/.").path == [UInt8]((scratch + "/b").utf8))
    }

    @Test func `names the root and what lies in it`() throws {
        #expect(try resolve("/").path == [UInt8]("/".utf8))
        #expect(try resolve("/a") == name("a", in: "/"))
        #expect(try resolve("//a").path == [UInt8]("/a".utf8))
        #expect(try resolve("/..").path == [UInt8]("/".utf8))
    }

    @Test func `keeps names that are no UTF-8`() throws {
        let path = [UInt8](scratch.utf8) + [0x2F, 0xFF, 0xE9]
        #expect(try PathName(resolving: path).name == [0xFF, 0xE9])
    }

    @Test func `fails where a parent is missing or no directory`() throws {
        let missing = #expect(throws: SystemError.self) { try resolve(scratch + "/no/a") }
        #expect(missing?.isMissing == true)
        #expect(FileManager.default.createFile(atPath: scratch + "/f", contents: nil))
        let file = #expect(throws: SystemError.self) { try resolve(scratch + "/f/a/b") }
        #expect(file?.isNotDirectory == true)
    }
}
