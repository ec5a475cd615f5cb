@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Promises about the end of an archive, for any bytes.
public enum TrailerPromises {
    /// The parts of the reader that the seeds must reach.
    public static let milestones = ["an end"]

    /// Checks the end of an archive with the hash that is right for it.
    public static func check(_ bytes: [UInt8]) throws {
        let bytes = sealed(bytes)
        let index = try ArchiveIndex(parsing: bytes)
        Milestones.reach("an end")
        FuzzTarget.require(index.encoded == bytes, "an end has one form")
        FuzzTarget.require(
            bytes.count == ArchiveIndex.endSize(frameCount: index.frames.count),
            "an end has the size that its pieces give"
        )
        for number in index.frames.indices {
            FuzzTarget.require(index.digest(of: number).count == 32, "a piece has a hash")
        }
        guard (try? index.checkCuts()) != nil else { return }
        let room = UInt64(index.frames.count * FrameFormat.chunkSize)
        FuzzTarget.require(index.pieceBytes <= room, "pieces have a size")
    }

    /// The bytes, followed by their hash.
    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 20 else { return bytes }
        let count = Int(bytes.littleEndian(at: 16, as: UInt32.self))
        let root = ArchiveIndex.integrityFrameSize(frameCount: count) - 32
        guard count < 1000, root + 32 <= bytes.count else { return bytes }
        var sealed = bytes
        let hash = SHA256Digest.hash(of: [UInt8](bytes[8..<root]))
        sealed.replaceSubrange(root..<root + 32, with: hash)
        return sealed
    }

    /// The inputs with which the fuzzer starts.
    public static func seeds() throws -> [[UInt8]] {
        let header = try HeaderFrame(of: ArchiveForge.header)
        var index = ArchiveIndex(after: header)
        var seeds = [index.encoded]
        let digest = [UInt8](repeating: 7, count: 32)
        for size in [FrameFormat.chunkSize, FrameFormat.chunkSize, 1024] {
            index.append(.init(compressedSize: 300, size: UInt32(size)), digest: digest)
            index.totals.files += 3
            index.totals.contentBytes += 4000
            index.append(entryIndex: EntryIndexBuilder().encoded(frameCount: index.frames.count))
            seeds.append(index.encoded)
        }
        return seeds
    }
}
