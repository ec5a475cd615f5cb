import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct ArchiveIndexTests {
    /// An index of two frames.
    private static var sample: ArchiveIndex {
        var index = ArchiveIndex()
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

    private func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    @Test func `writes the layout that is documented`() {
        let index = Self.sample
        var content = [UInt8]("MIGR".utf8) + littleEndian(1, 2) + littleEndian(0, 2)
        content += littleEndian(2, 4)
        for number: UInt64 in [3, 0, 0, 1, 4_000_000, 3_999_999, 4_195_328] {
            content += littleEndian(number, 8)
        }
        content += noise(32) + noise(32, seed: 2) + SHA256Digest.hash(of: noise(50, seed: 3))
        let root = SHA256Digest.hash(of: content)
        var bytes = littleEndian(0x184D_2A5D, 4) + littleEndian(UInt64(content.count + 32), 4)
        bytes += content + root
        let integrityCount = UInt64(bytes.count)
        bytes += littleEndian(0x184D_2A5E, 4) + littleEndian(41, 4)
        for number: UInt64 in [300, 4_194_304, 40, 1024, 50, 0, integrityCount, 0, 4] {
            bytes += littleEndian(number, 4)
        }
        bytes += [0] + littleEndian(0x8F92_EAB1, 4)
        #expect(index.encoded == bytes)
        #expect(index.fingerprint.bytes == root)
        #expect(index.fingerprint.description.count == 64)
    }

    @Test func `reads back what it wrote`() throws {
        #expect(try ArchiveIndex(parsing: Self.sample.encoded) == Self.sample)
        #expect(try ArchiveIndex(parsing: ArchiveIndex().encoded) == ArchiveIndex())
    }

    @Test func `refuses every flipped bit and every truncation`() {
        let bytes = Self.sample.encoded
        for position in bytes.indices {
            #expect(throws: ArchiveError.self) {
                try ArchiveIndex(parsing: [UInt8](bytes.prefix(position)))
            }
            for bit in 0..<8 {
                var flipped = bytes
                flipped[position] ^= 1 << bit
                // The sizes of compressed frames are not hashed; their sum is checked instead.
                if let index = try? ArchiveIndex(parsing: flipped) {
                    #expect(index.compressedBytes != Self.sample.compressedBytes)
                    #expect(index.fingerprint == Self.sample.fingerprint)
                }
            }
        }
        #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes + [0]) }
    }

    @Test func `says that a newer version is newer`() {
        var bytes = Self.sample.encoded
        bytes[12] = 2
        let error = #expect(throws: ArchiveError.self) { try ArchiveIndex(parsing: bytes) }
        #expect(error?.code == .unsupported)
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
            [(4_300_000, 100)],
        ] as [[(UInt32, UInt32)]]
    )
    func `refuses frames that are cut in another way`(_ frames: [(UInt32, UInt32)]) {
        #expect(throws: ArchiveError.self) { try index(of: frames).checkCuts() }
    }

    private func index(of frames: [(UInt32, UInt32)]) -> ArchiveIndex {
        var index = ArchiveIndex()
        for (compressedSize, size) in frames {
            index.append(.init(compressedSize: compressedSize, size: size), digest: noise(32))
        }
        return index
    }

    /// An archive whose frames are cut elsewhere is none of this format, by whatever way it comes.
    @Test(arguments: TestArchive.Route.allCases)
    func `refuses an archive that is cut in another way`(_ route: TestArchive.Route) throws {
        let stream = try StrictStream().stream(StrictStream.encoded(.file("a")))
        var index = ArchiveIndex()
        index.totals.files = 1
        var bytes: [UInt8] = []
        for piece in [stream.prefix(1024), stream.dropFirst(1024)] {
            let frame = StoredFrame.bytes(storing: [UInt8](piece))
            index.append(
                .init(compressedSize: UInt32(frame.count), size: UInt32(piece.count)),
                digest: SHA256Digest.hash(of: frame)
            )
            bytes += frame
        }
        var entries = EntryIndexBuilder()
        entries.add(EntryPath("a"), at: 1024)
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
        let (frames, _) = try TestArchive([Item("a", text(100))]).parts
        var index = ArchiveIndex()
        index.append(
            .init(compressedSize: UInt32(frames[0].count), size: 1024 + 512 + 512 + 1024),
            digest: SHA256Digest.hash(of: frames[0])
        )
        var entries = EntryIndexBuilder()
        entries.add(EntryPath("a"), at: 1024)
        let entryIndex = entries.encoded(frameCount: 1)
        index.append(entryIndex: entryIndex)
        for (files, bytes, data) in [(2, 100, 100), (1, 101, 100), (1, 100, 101), (0, 0, 0)] {
            index.totals.files = UInt64(files)
            index.totals.contentBytes = UInt64(bytes)
            index.totals.dataBytes = UInt64(data)
            let archive = TestArchive(bytes: frames[0] + entryIndex + index.encoded)
            let error = #expect(throws: ArchiveError.self) { try archive.items(route) }
            #expect(error?.code == .damaged)
        }
        (index.totals.files, index.totals.contentBytes, index.totals.dataBytes) = (1, 100, 100)
        let archive = TestArchive(bytes: frames[0] + entryIndex + index.encoded)
        #expect(try archive.items(route).count == 1)
    }
}
