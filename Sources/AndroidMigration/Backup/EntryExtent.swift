internal import MigrationArchive
internal import MigrationSystem

/// How to read an entry that contains other entries' headers if two readings are possible.
package enum SizePolicy: Sendable {
    /// Refuse the backup.
    case refuse
    /// Trust the size in every entry's header.
    case trust
    /// Take the entries inside.
    case salvage
}

/// Where an entry ends.
///
/// Android looks up a file's size before it reads the file. A file that shrinks in between leaves
/// an entry that is too short, and its size covers the entries that follow. But a file may also
/// hold a backup, or headers that somebody planted. So the headers inside an entry count only if
/// they form a chain up to its end, in which each begins where the entry before it ends, or
/// earlier.
///
/// The stream proves at most one of them: if the size doesn't fit and more entries follow, the file
/// shrank, and the next header is inside. If there are several headers, the first may be the file's
/// content. If the size fits, or the stream ends inside the entry, all of them may be. Then the
/// user decides.
enum EntryExtent {
    case whole
    /// The entry is too short; the stream continues at `next`.
    case short(next: UInt64, reason: String)
}

extension BackupReader {
    /// The headers inside an entry's content that form a chain: each is at the end of the entry
    /// before it, or inside it if that entry is too short.
    private struct ChainedHeaders {
        let first: BackupEntry
        let start: UInt64
        let count: Int
        /// Where these entries end according to their headers.
        ///
        /// From there, only zeros follow up to the end of the stream, or it isn't before the end of
        /// the content.
        let end: UInt64
    }

    /// The maximum number of zero blocks at the end of a stream: Android writes 2, other programs
    /// fill a record.
    private static let endLimit: UInt64 = 20

    /// Finds where `entry` ends, which should be at `end`.
    func extent(of entry: BackupEntry, endingAt end: UInt64) throws -> EntryExtent {
        guard entry.size > 0 else { return .whole }
        let isCutOff = entry.contentOffset + entry.size > stream.size
        if isCutOff { return try extentAtEnd(of: entry) }
        guard stream.sizePolicy != .trust else { return .whole }
        let fits = try isInPlace(end)
        if fits, !isAndroid { return .whole }
        if fits, stream.holdsNoHeadersInside {
            return try extentBeforeEnd(of: entry, endingAt: end)
        }
        guard let inside = try entriesInside(entry, upTo: end, fits: fits) else {
            if fits { return try extentBeforeEnd(of: entry, endingAt: end) }
            return try extentBeforeDamage(of: entry, endingAt: end)
        }
        if !fits, inside.count == 1 { return short(entry, at: inside.start) }
        // A whole tar file has its own end mark, and its size is a whole number of blocks.
        if fits, inside.end + 2 * Self.blockSize <= end, entry.size.isMultiple(of: Self.blockSize),
            end + 2 * Self.blockSize <= stream.size, try holdsOnlyZeros(from: end)
        {
            return .whole
        }
        guard stream.sizePolicy == .salvage else { throw unclear(entry, inside) }
        return short(entry, at: inside.start)
    }

    /// The extent of an entry without a chain of headers.
    ///
    /// The last file of a stream may have taken blocks of zeros from the end mark, which has two. A
    /// stream of a transport has none.
    private func extentBeforeEnd(
        of entry: BackupEntry,
        endingAt end: UInt64
    ) throws -> EntryExtent {
        let left = (stream.size - min(end, stream.size)) / Self.blockSize
        guard left < 2 else { return .whole }
        let taken = (2 - left) * Self.blockSize
        guard end - entry.contentOffset >= taken,
            try holdsOnlyZeros(from: end - taken)
        else { return .whole }
        if left == 1 || stream.form.version != nil || stream.sizePolicy == .salvage {
            return short(entry, at: end - taken)
        }
        let name = PrintableText.escaping(entry.path)
        throw AndroidMigrationError(
            .unclearSizes,
            "the stream ends with the zeros of '\(name)': it has no end mark, or the file became "
                + "shorter while Android read it",
            remedy: .judgeUnclearEnd
        )
    }

    private func short(_ entry: BackupEntry, at next: UInt64) -> EntryExtent {
        let found = next - entry.contentOffset
        return .short(
            next: next,
            reason: "it is shorter than its header says: at most \(found) of \(entry.size) bytes"
        )
    }

    /// Whether the data after the end of an entry confirms that end.
    private func isInPlace(_ end: UInt64) throws -> Bool {
        guard end + Self.blockSize <= stream.size else { return true }
        let next = try block(at: end)
        // Zeros end a stream; if anything follows, they may be a file's content.
        return next.isZero ? try holdsOnlyZeros(from: end) : isPlausible(next)
    }

    private func unclear(_ entry: BackupEntry, _ inside: ChainedHeaders) -> AndroidMigrationError {
        let name = PrintableText.escaping(entry.path)
        let other = PrintableText.escaping(inside.first.path)
        return AndroidMigrationError(
            .unclearSizes,
            "'\(name)' holds \(inside.count == 1 ? "the header" : "\(inside.count) headers, the first") "
                + "of '\(other)' behind \(inside.start - entry.contentOffset) "
                + "of its \(entry.size) bytes: it contains a backup, or it became shorter while "
                + "Android read it and the other is an entry of its own",
            remedy: .judgeUnclearEntries
        )
    }
}

// MARK: - Headers inside

extension BackupReader {
    /// The earliest header inside `entry` from which all headers up to `end` form a chain.
    private func entriesInside(
        _ entry: BackupEntry,
        upTo end: UInt64,
        fits: Bool
    ) throws -> ChainedHeaders? {
        try headersInside.cover(from: entry.contentOffset, to: end, of: stream.size) { offset in
            if offset & 0xFFFFF < Self.blockSize { try cancellation() }
            return try headerInside(at: offset).map {
                ($0.contentOffset, $0.contentOffset + Self.padded($0.size))
            }
        }
        var index = headersInside.index(from: entry.contentOffset)
        while let start = headersInside.offset(at: index), start < end {
            guard let first = try header(at: start), mayFollow(entry, first, fits: fits) else {
                index += 1
                continue
            }
            foundHeadersInside = true
            let chainEnd = headersInside.chainEnd(at: index)
            let inside = ChainedHeaders(
                first: first,
                start: start,
                count: headersInside.index(from: min(end, chainEnd)) - index,
                end: chainEnd
            )
            // A stream may be cut off within a block.
            if inside.end + Self.blockSize > min(end, stream.size) {
                return inside.end + Self.blockSize > end ? inside : nil
            }
            if try isEnd(inside.end) { return inside }
            // The next header is missing.
            index = headersInside.index(from: inside.end)
        }
        return nil
    }

    private func headerInside(at offset: UInt64) throws -> BackupEntry? {
        let bytes = try stream.read(at: offset, count: Int(Self.blockSize))
        let magic = bytes.startIndex + UstarBlock.Field.magic.lowerBound
        guard bytes[magic] == UInt8(ascii: "u"), isHeader(UstarBlock(copying: bytes)),
            let entry = try header(at: offset)
        else { return nil }
        return !isAndroid || BackupPathStart(entry.path) != nil ? entry : nil
    }

    /// Whether `next` may be the first header after `entry`.
    ///
    /// If the entry's size fits, another package must begin as all packages do, because a file may
    /// hold parts of other packages' backups.
    private func mayFollow(_ entry: BackupEntry, _ next: BackupEntry, fits: Bool) -> Bool {
        guard fits, let start = BackupPathStart(next.path) else { return true }
        return start == BackupPathStart(entry.path) || start.beginsPackage(next.path)
    }

    /// Whether the zeros at the end of a stream begin at `offset`, even if an entry that is too
    /// short took one block of them.
    private func isEnd(_ offset: UInt64) throws -> Bool {
        let count = (stream.size - offset) / Self.blockSize
        guard (1...Self.endLimit).contains(count), try block(at: offset).isZero else {
            return false
        }
        return try holdsOnlyZeros(from: offset)
    }
}

/// The first two names of a path in a backup, such as `apps/<package>`.
private struct BackupPathStart: Equatable {
    private let isShared: Bool
    private let name: [UInt8]

    init?(_ path: [UInt8]) {
        let names = path.split(separator: UInt8(ascii: "/"), maxSplits: 2)
        guard names.count == 3 else { return nil }
        isShared = names[0].elementsEqual("shared".utf8)
        guard isShared || names[0].elementsEqual("apps".utf8) else { return nil }
        name = isShared ? [] : [UInt8](names[1])
    }

    /// Whether an entry at `path` begins the part of a package, or of the shared storage.
    func beginsPackage(_ path: [UInt8]) -> Bool {
        isShared || path.elementsEqual([UInt8]("apps/".utf8) + name + "/_manifest".utf8)
    }
}

// MARK: - Damage

extension BackupReader {
    /// The extent of an entry that would end after the stream.
    ///
    /// Headers inside can't be proved to be entries: the file may be the last one, or the stream
    /// truncated.
    private func extentAtEnd(of entry: BackupEntry) throws -> EntryExtent {
        let held = stream.size - min(entry.contentOffset, stream.size)
        let reason = "the backup ends behind \(held) of its \(entry.size) bytes"
        guard stream.sizePolicy != .trust,
            let inside = try entriesInside(entry, upTo: stream.size, fits: false)
        else { return .short(next: stream.size, reason: reason) }
        if stream.sizePolicy == .salvage { return short(entry, at: inside.start) }
        guard stream.damage != nil else { throw unclear(entry, inside) }
        let other = PrintableText.escaping(inside.first.path)
        return .short(
            next: stream.size,
            reason: "\(reason), and the header of '\(other)' is in them: salvaging the backup "
                + "takes the entries inside"
        )
    }

    /// The extent of an entry without a header after it or inside it.
    ///
    /// If the next header isn't aligned to blocks, something got into the stream: a message between
    /// two entries, or bytes inside this one.
    private func extentBeforeDamage(
        of entry: BackupEntry,
        endingAt end: UInt64
    ) throws -> EntryExtent {
        guard let next = try findHeader(from: end + 1), (next - end) % Self.blockSize != 0,
            try message(from: end, to: next) == nil
        else { return .whole }
        return .short(
            next: next,
            reason:
                "bytes that are not its own are in it, or in what follows: the next header comes "
                + "\(next - end) bytes late"
        )
    }
}
