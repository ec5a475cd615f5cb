import TestSupport
import Testing

@testable import MigrationSystem

@Suite(.scratchDirectory)
struct DirectoryListingTests {
    @Test func `lists names in byte order, whatever their bytes are`() throws {
        let place = try Place()
        let names: [[UInt8]] = [
            [0x01], [0x0A], [0x2D], [0x2E, 0x2E, 0x2E], [0x2E, 0x61], [0x41], [0x61],
            [0x61, 0x0A, 0x62], [0x61, 0x62], [0x7F], [0xC3, 0xA9], [0xE9], [0xFF], [0xFF, 0x01],
            [0xFF, 0xFE],
        ]
        for name in names.shuffled() { try place.makeFile(name) }
        #expect(try place.names() == names)
    }

    @Test func `lists no names of an empty directory`() throws {
        #expect(try Place().names().isEmpty)
    }

    @Test func `lists more names than one call of the system gives`() throws {
        let place = try Place()
        let names = (0..<1500).map { number in
            let digits = [UInt8](String(number + 10_000).utf8)
            return digits + [UInt8](repeating: 0x6E, count: 50)
        }
        for name in names { try place.makeFile(name) }
        #expect(try place.names() == names)
    }

    @Test func `takes no more memory for many names than they have`() throws {
        let place = try Place()
        let count = 40_000
        for number in 0..<count { try place.makeFile([UInt8](String(100_000 + number).utf8)) }
        let listing = try DirectoryListing(of: place.directory)
        #expect(listing.count == count)
        #expect(listing[count - 1] == [UInt8]("139999".utf8))
        #expect(listing.allocatedBytes < count * (6 + 9) + 64 * 1024)
    }

    @Test func `has no status of a file that is gone`() throws {
        let place = try Place()
        try place.makeFile("a")
        let listing = try DirectoryListing(of: place.directory)
        try place.directory.removeFile([UInt8]("a".utf8))
        let error = systemError { _ = try listing.status(at: 0, in: place.directory) }
        #expect(error?.isMissing == true)
    }

    @Test func `opens files by their places, and no links`() throws {
        let place = try Place()
        try place.makeFile("a", [1])
        try place.makeFile("ab", [2])
        try place.directory.makeSymbolicLink([0x62], to: [0x61])
        let listing = try DirectoryListing(of: place.directory)
        #expect(listing.count == 3)
        for index in 0..<2 {
            #expect(listing.saysRegularFile(at: index))
            let file = try place.directory.openFile(listing[index][...])
            #expect(try file.readAll(limit: 10) == [UInt8(index + 1)])
            #expect(try listing.status(at: index, in: place.directory) == file.status())
        }
        #expect(!listing.saysRegularFile(at: 2))
        let error = systemError { _ = try place.directory.openFile(listing[2][...]) }
        #expect(error != nil)
    }

    @Test func `begins at the start each time`() throws {
        let place = try Place()
        try place.makeFile("a")
        #expect(try place.names().count == 1)
        try place.makeFile("b")
        #expect(try place.names().count == 2)
    }

    @Test func `fails for what is no directory`() throws {
        let place = try Place()
        try place.makeFile("a")
        let file = try place.directory.open([0x61], .reading)
        do {
            _ = try DirectoryListing(of: file)
            Issue.record("a file was listed")
        } catch {
            #expect(error.isNotDirectory)
        }
    }
}
