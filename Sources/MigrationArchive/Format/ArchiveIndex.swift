internal import MigrationSystem

/// The sizes of the frames of an archive, the hashes of what is in them, and its totals.
///
/// The index is the archive's end: the integrity frame and the seek table. It also lists the index
/// of entries, which precedes it.
///
///     integrity frame = magic size "MIGR" version:2 1:2 pieces:4 files:8 directories:8 symbolicLinks:8
///                       hardLinks:8 contentBytes:8 dataBytes:8 streamBytes:8 sha256(description):32
///                       sha256(piece):32... sha256(entries):32 root:32
///     seek table      = magic size (compressed:4 decompressed:4)... frames:4 0:1 footer-magic:4
///
/// All numbers are little-endian. A piece is the uncompressed content of a data frame; the global header
/// isn't a piece. A piece's hash covers the marks of its entries too, and the compressed size that is listed
/// includes their frame. `root` is the SHA-256 of everything in the integrity frame before it: the fingerprint. The
/// seek table lists the header's frame first, and the index of entries and the integrity frame last, each
/// of those two with a decompressed size of 0.
struct ArchiveIndex: Equatable, Sendable {
    /// One data frame.
    struct Frame: Equatable, Sendable {
        let compressedSize: UInt32
        let size: UInt32
    }

    static let version: UInt16 = 2

    /// The number after the version; it was 0 in pre-releases of version 2.
    private static let mark: UInt16 = 1

    /// The frames that an index may list, 1 TiB of stream, so that a file can't demand unbounded memory.
    static let frameLimit = 1 << 18

    /// The maximum size of headers and content in an archive.
    static let longestStream = UInt64(frameLimit * FrameFormat.chunkSize)

    /// The frames that the seek table lists besides those of pieces.
    static let listedBesidePieces = 3

    private static let fixedSize = 4 + 2 + 2 + 4 + 7 * 8

    /// The frame of the global header.
    private let header: Frame
    /// The hash of the record that describes the data.
    private let descriptionDigest: [UInt8]

    private(set) var frames: [Frame] = []
    /// The hashes of the pieces; a slice of the bytes that were read, because a copy would double the memory.
    private(set) var digests: ArraySlice<UInt8> = []

    /// The bytes of the index of entries.
    private(set) var entryIndexSize: UInt32 = 0
    private var entryIndexDigest = [UInt8](repeating: 0, count: SHA256Digest.size)

    var totals = ArchiveTotals()

    /// Begins the index of an archive that begins with `frame`.
    init(after frame: HeaderFrame) {
        header = Frame(compressedSize: UInt32(frame.bytes.count), size: UInt32(frame.contentSize))
        descriptionDigest = frame.digest
    }

    /// Whether the archive begins with `frame`.
    func isIndex(after frame: HeaderFrame) -> Bool {
        let expected = ArchiveIndex(after: frame)
        return header == expected.header && descriptionDigest == expected.descriptionDigest
    }

    /// Adds the frame that follows the last one.
    mutating func append(_ frame: Frame, digest: [UInt8]) {
        frames.append(frame)
        digests.append(contentsOf: digest)
    }

    /// The bytes of all pieces: the tar stream without the global header.
    var pieceBytes: UInt64 { frames.reduce(0) { $0 + UInt64($1.size) } }

    /// The bytes of the tar stream.
    var streamBytes: UInt64 { UInt64(header.size) + pieceBytes }

    /// The same after compression; a piece that compression doesn't make smaller counts uncompressed.
    var compressedStreamBytes: UInt64 {
        frames.reduce(UInt64(header.size)) { $0 + UInt64(min($1.size, $1.compressedSize)) }
    }

    /// Adds the index of entries, which follows the last frame.
    mutating func append(entryIndex bytes: [UInt8]) {
        entryIndexSize = UInt32(bytes.count)
        entryIndexDigest = SHA256Digest.hash(of: bytes)
    }

    /// Whether `bytes` are the index of entries that belongs to the archive.
    func lists(entryIndex bytes: [UInt8]) -> Bool {
        bytes.count == Int(entryIndexSize) && SHA256Digest.hash(of: bytes) == entryIndexDigest
    }

    /// The bytes before the integrity frame: all data frames and the index of entries.
    var compressedBytes: UInt64 {
        frames.reduce(UInt64(header.compressedSize) + UInt64(entryIndexSize)) {
            $0 + UInt64($1.compressedSize)
        }
    }

    /// The hash that the piece in frame `index` must have.
    func digest(of index: Int) -> ArraySlice<UInt8> {
        digests.dropFirst(index * SHA256Digest.size).prefix(SHA256Digest.size)
    }
}

// MARK: - Writing

extension ArchiveIndex {
    /// The bytes of the integrity frame of an archive with `frameCount` pieces.
    static func integrityFrameSize(frameCount: Int) -> Int {
        8 + fixedSize + (frameCount + 3) * SHA256Digest.size
    }

    /// The bytes of the seek table of an archive with `frameCount` pieces.
    static func seekTableSize(frameCount: Int) -> Int {
        8 + (frameCount + listedBesidePieces) * 8 + FrameFormat.seekTableFooterSize
    }

    /// The bytes of the integrity frame and the seek table together.
    static func endSize(frameCount: Int) -> Int {
        integrityFrameSize(frameCount: frameCount) + seekTableSize(frameCount: frameCount)
    }

    /// The integrity frame up to the hashes of pieces.
    private var head: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(FrameFormat.integrityMagic)
        bytes.appendLittleEndian(UInt32(Self.integrityFrameSize(frameCount: frames.count) - 8))
        bytes += "MIGR".utf8
        bytes.appendLittleEndian(Self.version)
        bytes.appendLittleEndian(Self.mark)
        bytes.appendLittleEndian(UInt32(frames.count))
        for number in [
            totals.files, totals.directories, totals.symbolicLinks, totals.hardLinks,
            totals.contentBytes, totals.dataBytes, pieceBytes,
        ] {
            bytes.appendLittleEndian(number)
        }
        return bytes + descriptionDigest
    }

    /// The bytes after the hashes of pieces.
    private var tail: [UInt8] {
        var bytes = entryIndexDigest
        bytes.reserveCapacity(
            2 * SHA256Digest.size + Self.seekTableSize(frameCount: frames.count)
        )
        bytes += fingerprint.bytes
        appendSeekTable(to: &bytes)
        return bytes
    }

    /// The hash that identifies the archive.
    var fingerprint: Fingerprint {
        let head = head
        var hasher = SHA256Hasher()
        hasher.update(head.span.extracting(droppingFirst: 8))
        hasher.update(digests.span)
        hasher.update(entryIndexDigest.span)
        return Fingerprint(bytes: hasher.finish())
    }

    /// The bytes that follow the last data frame.
    var encoded: [UInt8] { head + digests + tail }

    /// Whether ``encoded`` is `bytes`; compared in parts, because a copy would double the memory.
    func isEncoded(as bytes: [UInt8]) -> Bool {
        let (head, tail) = (head, tail)
        let endOfDigests = head.count + digests.count
        guard bytes.count == endOfDigests + tail.count else { return false }
        return bytes[..<head.count] == head[...]
            && bytes[head.count..<endOfDigests] == digests
            && bytes[endOfDigests...] == tail[...]
    }

    private func appendSeekTable(to bytes: inout [UInt8]) {
        let size = Self.seekTableSize(frameCount: frames.count)
        bytes.appendLittleEndian(FrameFormat.seekTableMagic)
        bytes.appendLittleEndian(UInt32(size - 8))
        bytes.append(listing: header)
        for frame in frames { bytes.append(listing: frame) }
        bytes.appendLittleEndian(entryIndexSize)
        bytes.appendLittleEndian(UInt32(0))
        bytes.appendLittleEndian(UInt32(Self.integrityFrameSize(frameCount: frames.count)))
        bytes.appendLittleEndian(UInt32(0))
        bytes.appendLittleEndian(UInt32(frames.count + Self.listedBesidePieces))
        bytes.append(0)
        bytes.appendLittleEndian(FrameFormat.seekTableFooterMagic)
    }
}

// MARK: - Reading

extension ArchiveIndex {
    /// Reads the end of an archive that begins with `frame`, whose pieces must be cut as the writer cuts
    /// them, and whose totals must fit into them.
    init(parsing bytes: [UInt8], after frame: HeaderFrame) throws(ArchiveError) {
        try self.init(parsing: bytes)
        guard isIndex(after: frame) else {
            throw ArchiveError(.damaged, "the archive's end is that of another header")
        }
        try checkCuts()
        try checkTotals()
    }

    /// Reads the end of an archive, from the integrity frame's first byte to the archive's last byte.
    init(parsing bytes: [UInt8]) throws(ArchiveError) {
        let damage = ArchiveError(.damaged, "the hashes at the archive's end are damaged")
        guard bytes.count >= 8 + Self.fixedSize,
            bytes.littleEndian(at: 0) == FrameFormat.integrityMagic,
            bytes[8..<12] == [UInt8]("MIGR".utf8)[...]
        else { throw damage }
        guard bytes.littleEndian(at: 12) == Self.version else {
            throw ArchiveError(.unsupported, "the archive was made by a newer version")
        }
        guard bytes.littleEndian(at: 14) != 0 as UInt16 else {
            let message =
                "the archive was made by a pre-release of format 2, which is not read any more: export "
                + "the data again"
            throw ArchiveError(.unsupported, message)
        }
        let frameCount = Int(bytes.littleEndian(at: 16, as: UInt32.self))
        let integritySize = Self.integrityFrameSize(frameCount: frameCount)
        guard bytes.count == integritySize + Self.seekTableSize(frameCount: frameCount) else {
            throw damage
        }
        let table = integritySize + 8
        header = Self.frame(in: bytes, at: table)
        let firstDigest = 8 + Self.fixedSize + SHA256Digest.size
        descriptionDigest = [UInt8](bytes[8 + Self.fixedSize..<firstDigest])
        parseTotals(in: bytes)
        frames = (1..<frameCount + 1).map { Self.frame(in: bytes, at: table + $0 * 8) }
        entryIndexSize = bytes.littleEndian(at: table + 8 + frameCount * 8)
        let endOfDigests = integritySize - 2 * SHA256Digest.size
        digests = bytes[firstDigest..<endOfDigests]
        entryIndexDigest = [UInt8](bytes[endOfDigests..<integritySize - SHA256Digest.size])
        // An index has exactly one encoding, so encoding it again must give the same bytes.
        guard isEncoded(as: bytes) else { throw damage }
    }

    private mutating func parseTotals(in bytes: [UInt8]) {
        totals.files = bytes.littleEndian(at: 20)
        totals.directories = bytes.littleEndian(at: 28)
        totals.symbolicLinks = bytes.littleEndian(at: 36)
        totals.hardLinks = bytes.littleEndian(at: 44)
        totals.contentBytes = bytes.littleEndian(at: 52)
        totals.dataBytes = bytes.littleEndian(at: 60)
    }

    private static func frame(in bytes: [UInt8], at position: Int) -> Frame {
        Frame(
            compressedSize: bytes.littleEndian(at: position),
            size: bytes.littleEndian(at: position + 4)
        )
    }

    /// Throws unless the pieces are cut as the writer cuts them: all of the same size except the last.
    func checkCuts() throws(ArchiveError) {
        for (index, frame) in frames.enumerated() {
            let isLast = index == frames.count - 1
            let isCutRight =
                isLast
                ? (1...FrameFormat.chunkSize).contains(Int(frame.size))
                : Int(frame.size) == FrameFormat.chunkSize
            guard isCutRight, frame.compressedSize <= FrameFormat.largestCompressedSize else {
                throw ArchiveError(.damaged, "the seek table lists a frame of an impossible size")
            }
        }
    }

    /// Throws unless the stream has a block for each entry, and room for all content; so no sum of totals overflows.
    private func checkTotals() throws(ArchiveError) {
        let stream = pieceBytes
        let counts = [totals.files, totals.directories, totals.symbolicLinks, totals.hardLinks]
        guard counts.allSatisfy({ $0 <= stream / UInt64(TarFormat.blockSize) }),
            totals.contentBytes <= stream, totals.dataBytes <= stream
        else {
            let message = "the totals at the archive's end are more than the archive can hold"
            throw ArchiveError(.damaged, message)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(listing frame: ArchiveIndex.Frame) {
        appendLittleEndian(frame.compressedSize)
        appendLittleEndian(frame.size)
    }
}
