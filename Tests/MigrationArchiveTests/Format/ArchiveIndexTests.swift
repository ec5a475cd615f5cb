import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ArchiveIndexTests {
    /// An index of two frames.
    private static var sample: ArchiveIndex {
        get throws {
            var index = ArchiveIndex(after: try .sample)
            let full = UInt32(FrameFormat.chunkSize)
            index.append(.init(compressedSize: 300, size: full), digest: noise(32))
            index.append(.init(compressedSize: 40, size: 1024), digest: noise(32, seed: 2))
            index.totals.files = 3
            index.totals.hardLinks = 1
            index.totals.contentBytes = 4_000_000
            index.totals.dataBytes = 3_999_999
            index.append(entryIndex: noise(50, seed: 3))
            return index
        }
    }

    private func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    @Test func `writes the layout that is documented`() throws {
        let index = try Self.sample
        let header = try HeaderFrame.sample
        var content = [UInt8]("MIGR".utf8) + littleEndian(2, 2) + littleEndian(1, 2)
        content += littleEndian(2, 4)
        for number: UInt64 in [3, 0, 0, 1, 4_000_000, 3_999_999, 4_195_328] {
            content += littleEndian(number, 8)
        }
        let description =
            #"migration/2 {"bundleIdentifier":"org.example.notes","platform":"linux","#
            + #""resourcesVersion":"1"}"#
        content += SHA256Digest.hash(of: [UInt8](description.utf8))
        content += noise(32) + noise(32, seed: 2) + SHA256Digest.hash(of: noise(50, seed: 3))
        let root = SHA256Digest.hash(of: content)
        var bytes = littleEndian(0x184D_2A5D, 4) + littleEndian(UInt64(content.count + 32), 4)
        bytes += content + root
        let integrityCount = UInt64(bytes.count)
        bytes += littleEndian(0x184D_2A5E, 4) + littleEndian(49, 4)
        let headerCount = UInt64(header.bytes.count)
        #expect(headerCount == 1024 + 16)
        for number: UInt64 in [
            headerCount, 1024, 300, 4_194_304, 40, 1024, 50, 0, integrityCount, 0, 5,
        ] {
            bytes += littleEndian(number, 4)
        }
        bytes += [0] + littleEndian(0x8F92_EAB1, 4)
        #expect(index.encoded == bytes)
        #expect(index.fingerprint.bytes == root)
        #expect(index.fingerprint.description.count == 64)
    }

    @Test func `says that a pre-release made an archive, and that no other number is known`() throws
    {
        var bytes = try Self.sample.encoded
        bytes[14] = 0
        let error = #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("a pre-release of format 2") == true)
        bytes[14] = 2
        let other = #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes) }
        #expect(other?.code == .damaged)
    }

    /// A page counts from the file's start and only where it lies in one piece.
    @Test func `proves how many pages of zeros there are wherever all content is read`() throws {
        let content = [1] + [UInt8](repeating: 0, count: 5_000_000)
        let sound = try TestArchive([
            Item("a", content), Item("b", [UInt8](repeating: 0, count: 4096)),
        ])
        // The first page has a byte, one lies across two pieces, and the last one is not whole.
        let pages = 5_000_001 / 4096 - 2 + 1
        let data = UInt64(5_000_001 + 4096 - 4096 * pages)
        #expect(try sound.index.totals.dataBytes == data)
        for other in [data - 4096, data + 1, data + 4096, 5_004_097] {
            var index = try sound.index
            index.totals.dataBytes = other
            let beginning = try sound.parts
            let bytes = beginning.header + beginning.frames.flatMap { $0 } + (try sound.entryIndex)
            let forged = TestArchive(bytes: bytes + index.encoded)
            for route in TestArchive.Route.allCases {
                let verified = #expect(throws: ArchiveError.self) { try forged.verify(route) }
                #expect(verified?.message.contains("do not match the totals") == true)
            }
            let piped = try forged.reader(.pipe)
            let listed = #expect(throws: ArchiveError.self) { while try piped.next() != nil {} }
            #expect(listed?.code == .damaged)
        }
    }

    @Test func `reads back what it wrote`() throws {
        #expect(try ArchiveIndex(parsing: Self.sample.encoded) == (try Self.sample))
        let empty = ArchiveIndex(after: try .sample)
        #expect(try ArchiveIndex(parsing: empty.encoded) == empty)
    }

    @Test func `refuses every flipped bit and every truncation`() throws {
        let sample = try Self.sample
        let bytes = sample.encoded
        for position in bytes.indices {
            #expect(throws: ArchiveError.self) {
                try ArchiveIndex(parsing: [UInt8](bytes.prefix(position)))
            }
            for bit in 0..<8 {
                var flipped = bytes
                flipped[position] ^= 1 << bit
                // The sizes of frames and of the header are not hashed: the file's size and the header
                // itself tell.
                if let index = try? ArchiveIndex(parsing: flipped) {
                    let isOfHeader = try index.isIndex(after: .sample)
                    #expect(index.compressedBytes != sample.compressedBytes || !isOfHeader)
                    #expect(index.fingerprint == sample.fingerprint)
                }
            }
        }
        #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes + [0]) }
    }

    @Test func `says that a newer version is newer`() throws {
        var bytes = try Self.sample.encoded
        bytes[12] = 3
        let error = #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes) }
        #expect(error?.code == .unsupported)
    }

    @Test func `refuses the end of an archive with another header`() throws {
        let bytes = try Self.sample.encoded
        #expect(try ArchiveIndex(parsing: bytes, after: .sample) == (try Self.sample))
        let header = ArchiveHeader(
            bundleIdentifier: "org.example.other",
            platform: "linux",
            resourcesVersion: "1",
            sizeEstimate: 0,
            isCompressible: true,
            creator: "tests"
        )
        let error = #expect(throws: ArchiveError.self) {
            try ArchiveIndex(parsing: bytes, after: HeaderFrame(of: header))
        }
        #expect(error?.code == .damaged)
    }

    @Test func `refuses totals that the stream has no room for`() throws {
        let blocks = try Self.sample.pieceBytes / 512
        let (counts, sizes) = (
            [\ArchiveTotals.files, \.directories, \.symbolicLinks, \.hardLinks],
            [\ArchiveTotals.contentBytes, \.dataBytes]
        )
        for (totals, most) in [(counts, blocks), (sizes, blocks * 512)] {
            for total in totals {
                var index = try Self.sample
                index.totals[keyPath: total] = most
                #expect(try ArchiveIndex(parsing: index.encoded, after: .sample) == index)
                for impossible in [most + 1, .max] {
                    index.totals[keyPath: total] = impossible
                    let error = #expect(throws: ArchiveError.self) {
                        try ArchiveIndex(parsing: index.encoded, after: .sample)
                    }
                    #expect(error?.code == .damaged)
                }
            }
        }
    }

    @Test(
        arguments: [
            [(300, 4_194_304), (40, 1)], [(300, 1)], [(1, 4_194_304)], [],
        ] as [[(UInt32, UInt32)]]
    )
    func `takes frames as they are cut`(_ frames: [(UInt32, UInt32)]) throws {
        try index(of: frames).checkCuts()
    }

    @Test(
        arguments: [
            [(300, 4_194_303), (40, 1)], [(300, 4_194_304), (40, 0)], [(300, 4_194_305)], [(1, 0)],
            [(4_600_000, 100)],
        ] as [[(UInt32, UInt32)]]
    )
    func `refuses frames that are cut in another way`(_ frames: [(UInt32, UInt32)]) throws {
        let index = try index(of: frames)
        #expect(throws: ArchiveError.self) { try index.checkCuts() }
    }

    private func index(of frames: [(UInt32, UInt32)]) throws -> ArchiveIndex {
        var index = ArchiveIndex(after: try .sample)
        for (compressedSize, size) in frames {
            index.append(.init(compressedSize: compressedSize, size: size), digest: noise(32))
        }
        return index
    }

    /// An archive whose frames are cut elsewhere isn't valid, from a file or from a pipe.
    @Test(arguments: TestArchive.Route.allCases)
    func `refuses an archive that is cut in another way`(_ route: TestArchive.Route) throws {
        let stream = try StrictStream().stream(StrictStream.encoded(.file("a")))
        let header = try HeaderFrame.sample
        var index = ArchiveIndex(after: header)
        index.totals.files = 1
        var bytes = header.bytes
        for piece in [stream.prefix(512), stream.dropFirst(512)] {
            let frame = StoredFrame.bytes(storing: [UInt8](piece))
            index.append(
                .init(compressedSize: UInt32(frame.count), size: UInt32(piece.count)),
                digest: SHA256Digest.hash(of: [UInt8](piece))
            )
            bytes += frame
        }
        var entries = EntryIndexBuilder()
        entries.add(EntryPath("a"), at: 0)
        let entryIndex = entries.encoded(frameCount: 2)
        index.append(entryIndex: entryIndex)
        let error = #expect(throws: ArchiveError.self) {
            try TestArchive(bytes: bytes + entryIndex + index.encoded).items(route)
        }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: TestArchive.Route.allCases)
    func `refuses an archive that holds other than its end says`(_ route: TestArchive.Route) throws
    {
        let sound = try TestArchive([Item("a", text(100))])
        let start = try sound.parts.header + sound.parts.frames[0]
        var index = ArchiveIndex(after: try .sample)
        index.append(try sound.index.frames[0], digest: [UInt8](try sound.index.digest(of: 0)))
        var entries = EntryIndexBuilder()
        entries.add(EntryPath("a"), at: 0)
        let entryIndex = entries.encoded(frameCount: 1)
        index.append(entryIndex: entryIndex)
        for (files, bytes, data) in [(2, 100, 100), (1, 101, 100), (1, 100, 101), (0, 0, 0)] {
            index.totals.files = UInt64(files)
            index.totals.contentBytes = UInt64(bytes)
            index.totals.dataBytes = UInt64(data)
            let archive = TestArchive(bytes: start + entryIndex + index.encoded)
            let error = #expect(throws: ArchiveError.self) { try archive.items(route) }
            #expect(error?.code == .damaged)
        }
        (index.totals.files, index.totals.contentBytes, index.totals.dataBytes) = (1, 100, 100)
        let archive = TestArchive(bytes: start + entryIndex + index.encoded)
        #expect(try archive.items(route).count == 1)
    }
}
