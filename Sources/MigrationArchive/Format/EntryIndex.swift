internal import MigrationSystem

/// The offsets of entries, with which a reader finds one without reading every header.
///
/// The index is a separate frame between the data frames and the integrity frame, which holds its
/// hash. It lists the first entry that begins in each piece, the windows that begin in pieces, and
/// the pieces that frames of the table of large files follow:
///
///     entry index = magic size isInTreeOrder:1 0:3 piece... windows:4 window... tables:4 table...
///     piece       = block:2 kind:1 flags:1 path:2 path
///     window      = piece:4 path:2 path
///     table       = piece:4 size:4 sha256:32
///
/// All numbers are little-endian. `block` counts blocks of the tar stream from the piece's start to the
/// first header in it. The path of a window record is the path that a walk leaves first in the first
/// window that begins in the piece. Paths that would make the index too large are left out.
struct EntryIndex: Equatable, Sendable {
    /// A frame of the table of large files.
    struct Table: Equatable, Sendable {
        /// The piece that it follows.
        let piece: Int
        let size: Int
        let digest: [UInt8]
    }

    /// Where in the index the path of a window's first entry is.
    private struct Window: Equatable {
        let piece: UInt32
        let start: UInt32
    }

    /// The part of a piece's record before its path.
    fileprivate enum Flag {
        /// An entry that is not in the table of large files begins in the piece.
        static let needsStream: UInt8 = 1
        /// The first entry is the first one of its window.
        static let beginsWindow: UInt8 = 2
    }

    /// The bytes before the first record.
    static let headSize = 12

    /// The sizes of the records before their paths, and of a table's record.
    fileprivate static let (pieceHeadSize, windowHeadSize, tableSize) = (6, 6, 40)

    /// Longer paths are not listed.
    static let pathLimit = 1024

    /// The limit for the total size of the listed paths of pieces, and of windows, so that an
    /// archive can't demand unbounded memory.
    static let pathBytesLimit = 8 << 20

    /// The index as it is in the archive.
    let bytes: [UInt8]

    /// Whether the windows come in tree order, each path once.
    let isInTreeOrder: Bool

    /// Where in the index the records of pieces are.
    private var pieces: [UInt32] = []
    private var windows: [Window] = []

    /// The frames of the table of large files, in their order.
    private(set) var tables: [Table] = []

    /// The largest index of an archive with `frameCount` data frames.
    static func sizeLimit(frameCount: Int) -> Int {
        headSize + 8 + frameCount * (pieceHeadSize + windowHeadSize + tableSize)
            + 2 * min(frameCount * pathLimit, pathBytesLimit)
    }
}

// MARK: - Searching

extension EntryIndex {
    /// Returns where in the tar stream the entries at `path` and below it can be, counted from the first piece, if
    /// the windows are in tree order.
    ///
    /// An entry begins where the range does. The first window that begins at its end or later comes after all of
    /// them.
    func range(of path: EntryPath) -> Range<UInt64> {
        let next = firstWindow { path.isLeft(before: $0) }
        // Entries below the path may begin in the window before the first one below it.
        let inside = firstWindow { path.isLeft(before: $0) || $0.isEqual(toOrBelow: path) }
        let start = inside == 0 ? 0 : firstEntry(inPiece: Int(windows[inside - 1].piece)) ?? 0
        let end = next == windows.count ? nil : firstEntry(inPiece: Int(windows[next].piece))
        return start..<max(start, end ?? .max)
    }

    /// The number of the first window whose path meets `condition`; all later ones meet it too.
    private func firstWindow(where condition: (EntryPath) -> Bool) -> Int {
        windows.partitionPoint {
            condition(EntryPath(bytes: [UInt8](path(at: Int($0.start) + 4))))
        }
    }

    /// Returns the pieces in which an entry at `path` begins if it isn't a directory and its window is the last
    /// one that begins in a piece: one for each kind, the most likely first.
    func likelyPieces(of path: EntryPath) -> [Int] {
        let next = firstWindow { path.isLeft(before: $0) }
        guard next > 0 else { return [] }
        let first = Int(windows[next - 1].piece)
        let last = next == windows.count ? pieces.count - 1 : Int(windows[next].piece)
        let keys = [
            WindowKey(.file(size: 0), at: path), WindowKey(.symbolicLink(target: []), at: path),
            WindowKey(.hardLink(target: path), at: path),
        ]
        var likely = keys.map { _ in first }
        for piece in first..<max(last, first) + 1
        where piece > first && flags(of: piece) & Flag.beginsWindow == 0 {
            guard let (key, keyPath) = firstKey(inPiece: piece) else { continue }
            for index in keys.indices where !keys[index].precedes(key, path, keyPath) {
                likely[index] = piece
            }
        }
        return likely.enumerated().filter { !likely.prefix($0.offset).contains($0.element) }
            .map(\.element)
    }

    private func firstKey(inPiece piece: Int) -> (WindowKey, EntryPath)? {
        guard let path = firstPath(inPiece: piece) else { return nil }
        let kind: ArchiveEntry.Kind =
            switch bytes[Int(pieces[piece]) + 2] {
            case 1: .symbolicLink(target: [])
            case 2: .file(size: 0)
            case 3: .hardLink(target: path)
            default: .directory
            }
        return (WindowKey(kind, at: path), path)
    }

    /// Returns the start of the first entry that begins in piece number `piece` or later.
    func start(inPieceOrAfter piece: Int) -> UInt64? {
        guard piece < pieces.count else { return nil }
        return (piece..<pieces.count).lazy.compactMap(firstEntry).first
    }

    /// Returns the start of the first entry that begins in `piece`; `nil` if none does.
    func firstEntry(inPiece piece: Int) -> UInt64? {
        guard bytes[Int(pieces[piece]) + 2] > 0 else { return nil }
        let block = UInt64(bytes.littleEndian(at: Int(pieces[piece]), as: UInt16.self))
        return UInt64(piece) * UInt64(FrameFormat.chunkSize) + block * UInt64(TarFormat.blockSize)
    }

    /// The path of the first entry that begins in `piece`; `nil` if none does, or its path is left out.
    func firstPath(inPiece piece: Int) -> EntryPath? {
        let path = EntryPath(bytes: [UInt8](path(at: Int(pieces[piece]) + 4)))
        return path.bytes.isEmpty ? nil : path
    }

    /// Whether the table of large files holds all entries that begin in `piece`.
    func isListed(piece: Int) -> Bool {
        piece < pieces.count && flags(of: piece) & Flag.needsStream == 0
    }

    private func flags(of piece: Int) -> UInt8 { bytes[Int(pieces[piece]) + 3] }

    /// The path whose length is at `position`.
    private func path(at position: Int) -> ArraySlice<UInt8> {
        let length = Int(bytes.littleEndian(at: position, as: UInt16.self))
        return bytes[position + 2..<position + 2 + length]
    }
}

// MARK: - Reading

extension EntryIndex {
    /// Parses the bytes of an index, which must have the hash that `index` lists.
    init(parsing bytes: [UInt8], listedIn index: ArchiveIndex) throws(ArchiveError) {
        guard index.lists(entryIndex: bytes) else {
            throw ArchiveError(.damaged, "the index of entries is not the one that was written")
        }
        try self.init(parsing: bytes, frameCount: index.frames.count)
    }

    /// Parses the bytes of an index of `frameCount` data frames.
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
        for _ in 0..<frameCount { try takePiece(at: &position) }
        for _ in 0..<(try takeCount(at: &position)) { try takeWindow(at: &position) }
        for _ in 0..<(try takeCount(at: &position)) { try takeTable(at: &position) }
        guard position == bytes.count else { throw Self.damage }
    }

    private mutating func takePiece(at position: inout Int) throws(ArchiveError) {
        let start = position
        guard start + Self.pieceHeadSize <= bytes.count else { throw Self.damage }
        let block = Int(bytes.littleEndian(at: start, as: UInt16.self))
        let (kind, flags) = (bytes[start + 2], bytes[start + 3])
        position += 4
        try takePath(at: &position)
        let isEmpty = block == 0 && flags == 0 && position == start + Self.pieceHeadSize
        guard block < FrameFormat.chunkSize / TarFormat.blockSize, kind <= 4, flags <= 3,
            kind > 0 || isEmpty
        else { throw Self.damage }
        pieces.append(UInt32(start))
    }

    private mutating func takeWindow(at position: inout Int) throws(ArchiveError) {
        let start = position
        let piece = try takePieceNumber(at: &position, after: windows.last.map { Int($0.piece) })
        try takePath(at: &position)
        guard position > start + Self.windowHeadSize, firstEntry(inPiece: piece) != nil else {
            throw Self.damage
        }
        if isInTreeOrder, let last = windows.last {
            let (earlier, later) = (path(at: Int(last.start) + 4), path(at: start + 4))
            guard TreeOrder.isLeft(earlier.span, before: later.span) else { throw Self.damage }
        }
        windows.append(Window(piece: UInt32(piece), start: UInt32(start)))
    }

    private mutating func takeTable(at position: inout Int) throws(ArchiveError) {
        guard position + Self.tableSize <= bytes.count else { throw Self.damage }
        let start = position
        let piece = try takePieceNumber(at: &position, after: tables.last?.piece)
        let size = Int(bytes.littleEndian(at: start + 4, as: UInt32.self))
        guard size > LargeFile.frameHeadSize, size <= LargeFile.frameSizeLimit else {
            throw Self.damage
        }
        position = start + Self.tableSize
        let digest = [UInt8](bytes[start + 8..<position])
        tables.append(Table(piece: piece, size: size, digest: digest))
    }

    /// Parses the number of a piece, which must be greater than the previous record's.
    private func takePieceNumber(
        at position: inout Int,
        after last: Int?
    ) throws(ArchiveError) -> Int {
        let piece = try takeCount(at: &position)
        guard piece > last ?? -1, piece < pieces.count else { throw Self.damage }
        return piece
    }

    /// Parses a path, which follows its length.
    private func takePath(at position: inout Int) throws(ArchiveError) {
        guard position + 2 <= bytes.count else { throw Self.damage }
        let length = Int(bytes.littleEndian(at: position, as: UInt16.self))
        position += 2 + length
        guard length <= Self.pathLimit, position <= bytes.count else { throw Self.damage }
    }

    private func takeCount(at position: inout Int) throws(ArchiveError) -> Int {
        guard position + 4 <= bytes.count else { throw Self.damage }
        let count = Int(bytes.littleEndian(at: position, as: UInt32.self))
        guard count <= ArchiveIndex.frameLimit else { throw Self.damage }
        position += 4
        return count
    }

    static let damage = ArchiveError(.damaged, "the index of entries is damaged")
}

// MARK: - Building

/// Makes the index of entries, which depends only on the entries and their offsets.
///
/// Also makes the table of large files, and holds at most one frame of it in memory.
struct EntryIndexBuilder: Sendable {
    /// Records of one kind, as they are written.
    private struct Records: Sendable {
        var bytes: [UInt8] = []
        var count = 0
        var pathBytes = 0

        /// Reserves room for `path`; returns whether there was enough.
        mutating func takeRoom(for path: [UInt8]) -> Bool {
            let isListed =
                path.count <= EntryIndex.pathLimit
                && pathBytes + path.count <= EntryIndex.pathBytesLimit
            if isListed { pathBytes += path.count }
            return isListed
        }
    }

    private var order: WindowOrder
    private var pieces = Records()
    private var windows = Records()
    private var tables: [EntryIndex.Table] = []
    /// The piece in which the current window began, and that of the last listed window.
    private var windowPiece: Int?
    private var lastWindowPiece = -1
    /// The piece of the last entry, and its record so far.
    private var piece = -1
    private var head: [UInt8] = []
    private var headPath: [UInt8] = []
    /// The records of large files that are not in a frame yet.
    private var waiting: [UInt8] = []

    /// Begins before the first entry; the order need not be checked if the caller sorted the
    /// entries.
    init(checksOrder: Bool = true) { order = WindowOrder(checksOrder: checksOrder) }

    /// Adds `entry`, which begins at `offset` from the first piece, after all others; returns
    /// whether its window may hold it there.
    mutating func add(_ entry: ArchiveEntry, offset: UInt64, place: WindowPlace) -> Bool {
        let (number, rest) = offset.quotientAndRemainder(dividingBy: UInt64(FrameFormat.chunkSize))
        if Int(number) != piece {
            _ = takeTable()
            endPiece()
            piece = Int(number)
            head.appendLittleEndian(UInt16(rest / UInt64(TarFormat.blockSize)))
            head += [entry.kind.number, place == .first ? EntryIndex.Flag.beginsWindow : 0]
            headPath = entry.path.bytes
        }
        if let record = LargeFile.record(of: entry, at: offset, place) {
            waiting += record
        } else {
            head[3] |= EntryIndex.Flag.needsStream
        }
        if place == .first {
            endWindow()
            windowPiece = piece
        }
        return order.take(entry.kind, at: entry.path, place: place)
    }

    /// Whether the windows come in tree order so far.
    var isAscending: Bool { order.isAscending }

    /// The frame of the table of large files after the piece of the last entry; empty if there is none.
    mutating func takeTable() -> [UInt8] {
        waiting.count >= LargeFile.waitingLimit ? takeTable(behind: piece) : []
    }

    /// The frame that follows the very last piece, which is `piece`.
    mutating func takeLastTable(behind piece: Int) -> [UInt8] {
        waiting.isEmpty ? [] : takeTable(behind: piece)
    }

    private mutating func takeTable(behind piece: Int) -> [UInt8] {
        let frame = LargeFile.frame(holding: waiting)
        waiting.removeAll(keepingCapacity: true)
        let digest = SHA256Digest.hash(of: frame)
        tables.append(EntryIndex.Table(piece: piece, size: frame.count, digest: digest))
        return frame
    }

    /// Adds the record of the piece that has ended.
    private mutating func endPiece() {
        guard !head.isEmpty else { return }
        fill(upTo: piece)
        let path = pieces.takeRoom(for: headPath) ? headPath : []
        pieces.bytes += head
        pieces.bytes.appendLittleEndian(UInt16(path.count))
        pieces.bytes += path
        pieces.count += 1
        head.removeAll(keepingCapacity: true)
    }

    /// Adds the record of the window that has ended, if it is the first one in its piece.
    private mutating func endWindow() {
        guard let windowPiece, let first = order.firstInWindow, windowPiece > lastWindowPiece else {
            return
        }
        lastWindowPiece = windowPiece
        guard windows.takeRoom(for: first.bytes) else { return }
        windows.bytes.appendLittleEndian(UInt32(windowPiece))
        windows.bytes.appendLittleEndian(UInt16(first.bytes.count))
        windows.bytes += first.bytes
        windows.count += 1
    }

    /// Adds empty records until there are `count`.
    private mutating func fill(upTo count: Int) {
        let missing = max(0, count - pieces.count)
        pieces.bytes += repeatElement(0, count: missing * EntryIndex.pieceHeadSize)
        pieces.count += missing
    }

    /// The builder of an archive with `frameCount` data frames after the last entry.
    private func ended(frameCount: Int) -> EntryIndexBuilder {
        var ended = self
        _ = ended.takeTable()
        _ = ended.takeLastTable(behind: frameCount - 1)
        ended.endPiece()
        ended.endWindow()
        ended.fill(upTo: frameCount)
        return ended
    }

    /// The index of an archive with `frameCount` data frames, as it is written.
    func encoded(frameCount: Int) -> [UInt8] {
        let ended = ended(frameCount: frameCount)
        return ended.head(frameCount: frameCount) + ended.pieces.bytes + ended.tail
    }

    /// Whether the index is `bytes`; compared in parts, because a copy would take as much memory as
    /// the index.
    func isEncoded(as bytes: [UInt8], frameCount: Int) -> Bool {
        let ended = ended(frameCount: frameCount)
        let end = EntryIndex.headSize + ended.pieces.bytes.count
        return bytes.starts(with: ended.head(frameCount: frameCount))
            && end <= bytes.count && bytes[EntryIndex.headSize..<end] == ended.pieces.bytes[...]
            && bytes[end...] == ended.tail[...]
    }

    /// The bytes before the records of pieces.
    private func head(frameCount: Int) -> [UInt8] {
        let tablesSize = tables.count * EntryIndex.tableSize
        let size = pieces.bytes.count + windows.bytes.count + tablesSize + 8
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.entryIndexMagic)
        bytes.appendLittleEndian(UInt32(EntryIndex.headSize - 8 + size))
        return bytes + [order.isInTreeOrder ? 1 : 0, 0, 0, 0]
    }

    /// The bytes after the records of pieces.
    private var tail: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(UInt32(windows.count))
        bytes += windows.bytes
        bytes.appendLittleEndian(UInt32(tables.count))
        for table in tables {
            bytes.appendLittleEndian(UInt32(table.piece))
            bytes.appendLittleEndian(UInt32(table.size))
            bytes += table.digest
        }
        return bytes
    }
}
