internal import MigrationSystem

/// The first window that begins in each piece, so that a path is found without reading every header.
///
/// The index is a frame of its own between the data frames and the integrity frame, which holds its
/// hash. It has one record for each piece:
///
///     entry index = magic size isInTreeOrder:1 0:3 (block:2 length:2 path:length)...
///
/// All numbers are little-endian. `block` counts blocks of the tar stream from the piece's start to the
/// first header in it, and `path` is the one that a walk leaves first of those in the first window that
/// begins in the piece. A record of zeros means that no window begins in the piece or is listed.
struct EntryIndex: Equatable, Sendable {
    /// Where in the tar stream, counted from the first piece, an entry at or below a path can be.
    struct Range: Equatable, Sendable {
        /// Where an entry begins that comes before all of them; `nil` where they may come first of all.
        let start: UInt64?
        /// The first window that begins here or later comes after all of them.
        let end: UInt64?
    }

    /// Where the path of a frame's first entry lies in the index.
    private struct Record: Equatable {
        let frame: UInt32
        let start: UInt32
    }

    /// The bytes before the first record.
    static let headSize = 12

    /// The bytes of a record before its path.
    static let recordHeadSize = 4

    /// Longer paths are not listed.
    static let pathLimit = 1024

    /// The bytes that all listed paths may have, so that an archive can't take any amount of memory.
    static let pathBytesLimit = 8 << 20

    /// The index as it is in the archive.
    let bytes: [UInt8]

    /// Whether the windows come in tree order, each path once.
    let isInTreeOrder: Bool

    private var records: [Record] = []

    /// The bytes that the index of an archive with `frameCount` data frames may have.
    static func sizeLimit(frameCount: Int) -> Int {
        headSize + frameCount * recordHeadSize + min(frameCount * pathLimit, pathBytesLimit)
    }

    /// Returns where the entries at `path` and below it can be, if the windows are in tree order.
    func range(of path: EntryPath) -> Range {
        let next = firstRecord { path.isLeft(before: $0) }
        // What is below the path may begin in the window before the first one that lies below it.
        let inside = firstRecord { path.isLeft(before: $0) || $0.isEqual(toOrBelow: path) }
        return Range(
            start: inside == 0 ? nil : offset(of: records[inside - 1]),
            end: next == records.count ? nil : offset(of: records[next])
        )
    }

    /// The number of the first record whose path fulfills `condition`, as do those after it.
    private func firstRecord(where condition: (EntryPath) -> Bool) -> Int {
        var range = 0..<records.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if condition(EntryPath(bytes: [UInt8](path(of: records[middle])))) {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return range.lowerBound
    }

    /// Returns where the first window that is listed in piece number `piece` or behind it begins.
    func start(inPieceOrAfter piece: Int) -> UInt64? {
        records.first { Int($0.frame) >= piece }.map(offset)
    }

    private func offset(of record: Record) -> UInt64 {
        let block = UInt64(bytes.littleEndian(at: Int(record.start), as: UInt16.self))
        return UInt64(record.frame) * UInt64(FrameFormat.chunkSize)
            + block * UInt64(TarFormat.blockSize)
    }

    private func path(of record: Record) -> ArraySlice<UInt8> {
        let start = Int(record.start)
        let first = start + Self.recordHeadSize
        return bytes[first..<first + Int(bytes.littleEndian(at: start + 2, as: UInt16.self))]
    }
}

// MARK: - Reading

extension EntryIndex {
    /// Takes the bytes of an index that must be those which `index` has the hash of.
    init(parsing bytes: [UInt8], listedIn index: ArchiveIndex) throws(ArchiveError) {
        guard index.lists(entryIndex: bytes) else {
            throw ArchiveError(.damaged, "the index of entries is not the one that was written")
        }
        try self.init(parsing: bytes, frameCount: index.frames.count)
    }

    /// Takes the bytes of an index of `frameCount` data frames.
    init(parsing bytes: [UInt8], frameCount: Int) throws(ArchiveError) {
        guard bytes.count >= Self.headSize,
            bytes.count <= Self.sizeLimit(frameCount: frameCount),
            bytes.littleEndian(at: 0) == FrameFormat.entryIndexMagic,
            bytes.littleEndian(at: 4) == UInt32(bytes.count - 8),
            bytes[8] <= 1, bytes[9..<12].allSatisfy({ $0 == 0 })
        else { throw Self.damage }
        self.bytes = bytes
        isInTreeOrder = bytes[8] == 1
        var position = Self.headSize
        for frame in 0..<frameCount {
            guard let size = Self.recordSize(in: bytes, at: position) else { throw Self.damage }
            if size > Self.recordHeadSize {
                try append(Record(frame: UInt32(frame), start: UInt32(position)))
            }
            position += size
        }
        guard position == bytes.count else { throw Self.damage }
    }

    private mutating func append(_ record: Record) throws(ArchiveError) {
        if isInTreeOrder, let last = records.last {
            let isLater = TreeOrder.isLeft(path(of: last).span, before: path(of: record).span)
            guard isLater else { throw Self.damage }
        }
        records.append(record)
    }

    /// The bytes of the record at `position`; `nil` where there can be none.
    private static func recordSize(in bytes: [UInt8], at position: Int) -> Int? {
        guard position + recordHeadSize <= bytes.count else { return nil }
        let block = Int(bytes.littleEndian(at: position, as: UInt16.self))
        let length = Int(bytes.littleEndian(at: position + 2, as: UInt16.self))
        guard block < FrameFormat.chunkSize / TarFormat.blockSize, length <= pathLimit,
            length > 0 || block == 0, position + recordHeadSize + length <= bytes.count
        else { return nil }
        return recordHeadSize + length
    }

    static let damage = ArchiveError(.damaged, "the index of entries is damaged")
}

// MARK: - Building

/// Makes the index of entries, which depends on the entries' paths and places alone.
struct EntryIndexBuilder: Sendable {
    /// A window that began, and the first entry of the frame that it began in.
    private struct Window {
        let frame: Int
        let block: UInt16
    }

    private var order = WindowOrder()
    private var window: Window?
    private var records: [UInt8] = []
    private var recordCount = 0
    private var pathBytes = 0
    /// The frame of the last entry, and the block of the first one in it.
    private var frame = -1
    private var block: UInt16 = 0

    /// Adds the entry at `path`, which begins at `offset` from the first piece, after all others; returns
    /// whether a window may hold it there.
    mutating func add(
        _ kind: ArchiveEntry.Kind,
        at path: EntryPath,
        offset: UInt64,
        _ place: WindowPlace
    ) -> Bool {
        let (frame, rest) = offset.quotientAndRemainder(dividingBy: UInt64(FrameFormat.chunkSize))
        if Int(frame) != self.frame {
            self.frame = Int(frame)
            block = UInt16(rest / UInt64(TarFormat.blockSize))
        }
        if place == .first {
            endWindow()
            window = Window(frame: self.frame, block: block)
        }
        return order.take(kind, at: path, place)
    }

    /// Whether the windows come in tree order so far.
    var isAscending: Bool { order.isAscendingSoFar }

    /// Adds the record of the window that has ended, if it is the first one in its frame.
    private mutating func endWindow() {
        guard let window, let first = order.firstInWindow, window.frame >= recordCount else {
            return
        }
        fill(upTo: window.frame)
        let isListed =
            first.bytes.count <= EntryIndex.pathLimit
            && pathBytes + first.bytes.count <= EntryIndex.pathBytesLimit
        guard isListed else { return fill(upTo: window.frame + 1) }
        records.appendLittleEndian(window.block)
        records.appendLittleEndian(UInt16(first.bytes.count))
        records += first.bytes
        pathBytes += first.bytes.count
        recordCount += 1
    }

    /// The builder after the last entry.
    private var ended: EntryIndexBuilder {
        var ended = self
        ended.endWindow()
        return ended
    }

    /// Adds empty records until there are `count`.
    private mutating func fill(upTo count: Int) {
        let missing = max(0, count - recordCount)
        records += repeatElement(0, count: missing * EntryIndex.recordHeadSize)
        recordCount += missing
    }

    /// The index of an archive with `frameCount` data frames, as it is written.
    func encoded(frameCount: Int) -> [UInt8] {
        let ended = ended
        let missing = ended.missingSize(frameCount: frameCount)
        return ended.head(frameCount: frameCount) + ended.records
            + repeatElement(0, count: missing)
    }

    /// Whether the index is `bytes`; compared in parts, since a copy takes as much as the index.
    func isEncoded(as bytes: [UInt8], frameCount: Int) -> Bool {
        let ended = ended
        let end = EntryIndex.headSize + ended.records.count
        guard bytes.count == end + ended.missingSize(frameCount: frameCount) else { return false }
        return bytes.starts(with: ended.head(frameCount: frameCount))
            && bytes[EntryIndex.headSize..<end] == ended.records[...]
            && bytes[end...].allSatisfy { $0 == 0 }
    }

    /// The bytes of the records of frames after the last one in which an entry begins.
    private func missingSize(frameCount: Int) -> Int {
        max(0, frameCount - recordCount) * EntryIndex.recordHeadSize
    }

    private func head(frameCount: Int) -> [UInt8] {
        let size = records.count + missingSize(frameCount: frameCount)
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.entryIndexMagic)
        bytes.appendLittleEndian(UInt32(EntryIndex.headSize - 8 + size))
        return bytes + [order.isInTreeOrder ? 1 : 0, 0, 0, 0]
    }
}
