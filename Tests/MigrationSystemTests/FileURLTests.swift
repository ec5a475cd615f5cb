import Foundation
import MigrationSystem
import TestSupport
import Testing

/// Paths that become URLs and paths again.
@Suite(.scratchDirectory)
struct FileURLTests {
    @Test(arguments: [
        "/a", "/with space/é", "/per%41cent", "/a#b?c;d", "/\u{FFFD}",
        BytePath([0x2F, 0xFF]), BytePath([0x2F, 0x25, 0x34, 0x31, 0xFF]),
        BytePath([0x2F, 0xC3, 0x2F, 0xA9]), BytePath([0x2F, 0x20, 0x3F, 0x0A, 0x80]),
        BytePath([0x2F, 0xED, 0xA0, 0x80]),
    ])
    func `come back to the byte`(_ path: BytePath) {
        for url in [URL(fileAtPath: path), URL(containerAtPath: path), URL(directoryAtPath: path)] {
            #expect(url.fileSystemPath == path)
            #expect(BytePath(of: url) == path)
            let below = url.appending(path: "x y", directoryHint: .notDirectory)
            #expect(BytePath(of: below) == path / "x y")
        }
        #expect(URL(directoryAtPath: path).hasDirectoryPath)
        #expect(!URL(containerAtPath: path).absoluteString.hasSuffix("/"))
    }

    @Test func `come back of every byte that a name can hold`() {
        for byte in UInt8.min...UInt8.max where byte != 0 && byte != UInt8(ascii: "/") {
            let path = BytePath([0x2F, 0x61, byte, 0xFF, byte])
            #expect(BytePath(of: URL(fileAtPath: path)) == path)
        }
    }

    @Test func `of a relative path begin at the current directory`() throws {
        let current = try BytePath(resolvingWhole: ".")
        let name = BytePath([0x66, 0xFF])
        #expect(BytePath(of: URL(fileAtPath: name)) == current / name)
        #expect(BytePath(of: URL(fileAtPath: "f")) == current / "f")
    }

    @Test func `name no path by a zero byte`() throws {
        let url = try #require(URL(string: "file:///a%FF%00b"))
        #expect(url.fileSystemPath?.bytes.isEmpty ?? true)
        #expect(URL(string: "https://example.com/a%FF")?.fileSystemPath == nil)
    }
}
