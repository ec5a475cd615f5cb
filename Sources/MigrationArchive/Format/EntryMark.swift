internal import MigrationSystem

/// The four bytes that an archive records about an entry outside the tar stream.
///
/// The marks of the entries whose headers begin in a piece are in a skippable frame right after the
/// piece's frame, in the order of the stream. A piece in which no entry begins has no such frame.
///
///     marks frame = magic size (mark:4)...
///
/// All numbers are little-endian. Bits 0 to 29 of a mark are the nanoseconds of the modification
/// time, whose seconds are in the header; they are zero for a hard link, whose time is that of its
/// file. Bit 30 is zero. Bit 31 is one if a window begins with the entry.
struct EntryMark: Hashable, Sendable {
    let rawValue: UInt32

    /// The bytes of a frame before its first mark.
    static let frameHeadSize = 8

    /// The largest size of a frame: for a piece in which an entry begins in every block.
    static let frameSizeLimit = frameHeadSize + FrameFormat.chunkSize / TarFormat.blockSize * size

    /// The size of a mark.
    fileprivate static let size = 4

    private static let firstInWindow: UInt32 = 1 << 31

    /// The nanoseconds of the modification time.
    var nanoseconds: UInt32 { rawValue & ~Self.firstInWindow }

    /// The entry's place in its window.
    var place: WindowPlace { rawValue & Self.firstInWindow != 0 ? .first : .further }

    /// Makes the mark of `entry`, which has `place` in its window.
    init(of entry: ArchiveEntry, _ place: WindowPlace) {
        let nanoseconds =
            if case .hardLink = entry.kind { UInt32(0) } else { entry.modificationTime.nanoseconds }
        rawValue = nanoseconds | (place == .first ? Self.firstInWindow : 0)
    }

    /// Parses a mark as an archive stores it; `nil` if it isn't valid.
    init?(rawValue: UInt32) {
        guard rawValue & ~Self.firstInWindow < 1_000_000_000 else { return nil }
        self.rawValue = rawValue
    }

    /// Completes `entry`, as read from its header, with the mark; `nil` if the mark can't belong to
    /// it.
    func completing(_ entry: ArchiveEntry) -> ArchiveEntry? {
        if case .hardLink = entry.kind, nanoseconds != 0 { return nil }
        guard nanoseconds != 0 else { return entry }
        let time = FileTime(seconds: entry.modificationTime.seconds, nanoseconds: nanoseconds)
        return entry.changing { $0.modificationTime = time }
    }
}

// MARK: - Frames of marks

extension [EntryMark] {
    /// The frame that holds the marks; empty if there are none.
    var encoded: [UInt8] {
        if isEmpty { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(EntryMark.frameHeadSize + count * EntryMark.size)
        bytes.appendLittleEndian(FrameFormat.marksMagic)
        bytes.appendLittleEndian(UInt32(count * EntryMark.size))
        for mark in self { bytes.appendLittleEndian(mark.rawValue) }
        return bytes
    }

    /// Reads the frame in `buffer` at `position`, and moves `position` past it; only a frame of the
    /// table of large files may follow it or take its place.
    init(parsing buffer: FrameBuffer, at position: inout Int) throws(ArchiveError) {
        self.init()
        let damage = ArchiveError(.damaged, "what follows a frame are no times of its entries")
        let bytes = buffer.bytes
        let (start, first) = (position, position + EntryMark.frameHeadSize)
        if start == buffer.count { return }
        guard first < buffer.count else { throw damage }
        if LargeFile.isFrame(bytes[start..<buffer.count]) { return }
        let size = Int(bytes.littleEndian(at: start + 4, as: UInt32.self))
        guard bytes.littleEndian(at: start) == FrameFormat.marksMagic,
            size > 0, size <= buffer.count - first, size % EntryMark.size == 0
        else { throw damage }
        let end = first + size
        guard end == buffer.count || LargeFile.isFrame(bytes[end..<buffer.count]) else {
            throw damage
        }
        position = end
        reserveCapacity((end - first) / EntryMark.size)
        for position in stride(from: first, to: end, by: EntryMark.size) {
            guard let mark = EntryMark(rawValue: bytes.littleEndian(at: position)) else {
                throw damage
            }
            append(mark)
        }
    }
}
