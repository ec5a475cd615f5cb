@testable internal import MigrationArchive

/// Puts right what proves an archive whole, so that what was changed in it is looked at.
enum ArchiveSeal {
    private static let digestSize = 32
    private static let frameCountOffset = 16
    private static let streamBytesOffset = 68
    private static let digestsOffset = 76

    /// Returns `archive` with the right length of its last frame, and right hashes of all of it.
    ///
    /// What can't be made out stays as it is.
    static func renewed(_ archive: [UInt8]) -> [UInt8] {
        guard let start = endStart(of: archive) else { return archive }
        var bytes = archive
        let count = Int(bytes.littleEndian(at: start + frameCountOffset, as: UInt32.self))
        guard (1...8).contains(count) else { return archive }
        let rootStart = start + digestsOffset + count * digestSize
        let table = rootStart + digestSize + 8
        guard table + count * 8 <= bytes.count else { return archive }
        var (position, streamBytes) = (0, UInt64(0))
        for index in 0..<count {
            let entry = table + index * 8
            if index == count - 1 { set(UInt64(start - position), at: entry, 4, in: &bytes) }
            let size = Int(bytes.littleEndian(at: entry, as: UInt32.self))
            let end = min(start, position + size)
            let digest = SHA256Digest.hash(of: [UInt8](bytes[position..<end]))
            let place = start + digestsOffset + index * digestSize
            bytes.replaceSubrange(place..<place + digestSize, with: digest)
            streamBytes += UInt64(bytes.littleEndian(at: entry + 4, as: UInt32.self))
            position = end
        }
        set(streamBytes, at: start + streamBytesOffset, 8, in: &bytes)
        let root = SHA256Digest.hash(of: [UInt8](bytes[(start + 8)..<rootStart]))
        bytes.replaceSubrange(rootStart..<rootStart + digestSize, with: root)
        return bytes
    }

    /// Where the last thing begins that looks like an integrity frame.
    private static func endStart(of bytes: [UInt8]) -> Int? {
        let last = bytes.count - digestsOffset - digestSize
        guard last >= 0 else { return nil }
        return (0...last).last { start in
            bytes.littleEndian(at: start, as: UInt32.self) == FrameFormat.integrityMagic
                && bytes[(start + 8)..<(start + 12)].elementsEqual("MIGR".utf8)
        }
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
