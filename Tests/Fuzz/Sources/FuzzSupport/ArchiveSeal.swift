@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Corrects the proofs of an archive, so that readers look at the changed parts.
enum ArchiveSeal {
    private static let digestSize = 32
    private static let frameCountOffset = 16
    private static let streamBytesOffset = 68
    private static let digestsOffset = 108

    /// Returns `archive` with the right lengths of its last frame and of its index of entries, and
    /// right hashes of all of it.
    ///
    /// Parts that can't be recognized stay as they are.
    static func renewed(_ archive: [UInt8]) -> [UInt8] {
        guard let end = endStart(of: archive),
            let entries = entryIndexStart(of: archive, before: end)
        else { return archive }
        let count = Int(archive.littleEndian(at: end + frameCountOffset, as: UInt32.self))
        let root = end + digestsOffset + (count + 1) * digestSize
        let table = root + digestSize + 8
        guard (1...8).contains(count), table + (count + 2) * 8 <= archive.count else {
            return archive
        }
        var bytes = archive
        var position = min(entries, Int(archive.littleEndian(at: table, as: UInt32.self)))
        var pieceBytes: UInt64 = 0
        for index in 0..<count {
            let listing = table + (index + 1) * 8
            if index == count - 1 { set(UInt64(entries - position), at: listing, 4, in: &bytes) }
            let size = Int(bytes.littleEndian(at: listing, as: UInt32.self))
            let next = min(entries, position + size)
            let contentSize = Int(bytes.littleEndian(at: listing + 4, as: UInt32.self))
            if let digest = ArchiveForge.digest(of: bytes[position..<next], size: contentSize) {
                let place = end + digestsOffset + index * digestSize
                bytes.replaceSubrange(place..<place + digestSize, with: digest)
            }
            pieceBytes += UInt64(contentSize)
            position = next
        }
        set(pieceBytes, at: end + streamBytesOffset, 8, in: &bytes)
        set(UInt64(end - entries), at: table + (count + 1) * 8, 4, in: &bytes)
        setHash(of: [UInt8](bytes[entries..<end]), at: root - digestSize, in: &bytes)
        setHash(of: [UInt8](bytes[end + 8..<root]), at: root, in: &bytes)
        return bytes
    }

    /// Where the last part begins that looks like an integrity frame.
    private static func endStart(of bytes: [UInt8]) -> Int? {
        let last = bytes.count - digestsOffset - 2 * digestSize
        guard last >= 0 else { return nil }
        return (0...last).last { start in
            bytes.littleEndian(at: start, as: UInt32.self) == FrameFormat.integrityMagic
                && bytes[(start + 8)..<(start + 12)].elementsEqual("MIGR".utf8)
        }
    }

    /// Where the last part before `end` begins that looks like an index of entries.
    private static func entryIndexStart(of bytes: [UInt8], before end: Int) -> Int? {
        guard end >= EntryIndex.headSize else { return nil }
        return (0...end - EntryIndex.headSize).last { start in
            bytes.littleEndian(at: start, as: UInt32.self) == FrameFormat.entryIndexMagic
        }
    }

    private static func setHash(of content: [UInt8], at position: Int, in bytes: inout [UInt8]) {
        let hash = SHA256Digest.hash(of: content)
        bytes.replaceSubrange(position..<position + digestSize, with: hash)
    }

    private static func set(
        _ number: UInt64,
        at position: Int,
        _ count: Int,
        in bytes: inout [UInt8]
    ) {
        for index in 0..<count {
            bytes[position + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
