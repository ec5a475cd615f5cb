import Foundation
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory, .enabled(if: Scratch.has("gzip"), "gzip compresses"))
struct GzipStreamSourceTests {
    /// One member that gzip makes of `content`.
    private func member(_ content: [UInt8]) throws -> [UInt8] {
        let path = try Scratch.newPath().text
        try BytePath([UInt8](path.utf8)).write(Data(content))
        let (code, output) = try Scratch.shell("gzip -n \"$0\"", path)
        try #require(code == 0, "\(output)")
        return [UInt8](try BytePath([UInt8]("\(path).gz".utf8)).contents())
    }

    private func content(of bytes: [UInt8]) throws -> [UInt8] {
        try GzipStreamSource(reading: Scratch.input(holding: bytes)).content()
    }

    private func code(_ bytes: [UInt8]) -> ArchiveError.Code? {
        #expect(throws: ArchiveError.self) { try content(of: bytes) }?.code
    }

    @Test(arguments: [0, 1, 100_000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
    func `reads a member`(_ count: Int) throws {
        for original in [text(count), [UInt8](repeating: 0, count: count), noise(count)] {
            #expect(try content(of: member(original)) == original)
        }
    }

    @Test func `reads members one behind the other`() throws {
        let bytes = try member([1]) + member([]) + member([2, 3])
        #expect(try content(of: bytes) == [1, 2, 3])
    }

    @Test(arguments: [1, 512, 600_000])
    func `takes zeros behind the last member, as gzip does`(_ count: Int) throws {
        let zeros = [UInt8](repeating: 0, count: count)
        let bytes = try member([1, 2]) + zeros
        #expect(try content(of: bytes) == [1, 2])
        #expect(code(bytes + [1]) == .damaged)
        #expect(try code(bytes + member([3])) == .damaged)
    }

    @Test func `fails at every truncation`() throws {
        let bytes = try member(text(2000))
        for count in 1..<bytes.count {
            #expect(code([UInt8](bytes.prefix(count))) == .truncated, "\(count)")
        }
    }

    @Test func `refuses what is damaged or follows the last member`() throws {
        let bytes = try member(text(2000))
        for index in [2, bytes.count / 2, bytes.count - 8, bytes.count - 1] {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(code(damaged) == .damaged, "\(index)")
        }
        for tail in [[0, 1], [1, 2, 3], [0x1F, 0x8C]] as [[UInt8]] {
            #expect(code(bytes + tail) == .damaged || code(bytes + tail) == .truncated)
        }
    }

    @Test func `reads a tar file of another program`() throws {
        var tar = RawTar()
        tar.add("f", content: [1, 2, 3])
        let archive = TestArchive(bytes: try member(tar.ended()))
        for route in TestArchive.Route.allCases {
            #expect(try archive.items(route).map(\.content) == [[1, 2, 3]])
        }
    }
}
