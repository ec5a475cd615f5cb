internal import CZstd
public import Foundation
package import MigrationSystem

/// Reads an archive: its description, its entries in order, and finally the proof that it is whole.
///
/// Use it to read an archive without restoring it; to restore one, use `MigrationHost`, or
/// `ArchiveSource.extract`.
///
/// ```swift
/// let reader = try ArchiveReader(archive)
/// while let entry = try reader.next() {
///     print(entry.path)
///     try reader.readContent { offset, piece in total += piece.count }
/// }
/// ```
///
/// An archive of this project must be exactly what an ``ArchiveWriter`` writes, and is proved
/// complete once ``next()`` returns `nil`. Another program's tar file is read leniently, only on
/// request, and can't be proved complete. Each entry comes once, and a hard link after its file.
/// Don't rely on any other order: a directory usually comes after the entries in it.
///
/// Calls block while the archive is read, and throw `CancellationError` once the calling task is
/// cancelled. Memory depends only on the number of threads. After an error, the reader throws the
/// same error again.
public final class ArchiveReader: EntryReader {
    /// How an archive is read.
    public struct Options: Sendable {
        /// The keys that open an encrypted archive; ignored for an archive that is not encrypted.
        public var decryption: ArchiveDecryption?

        /// Whether other programs' tar files are read too, plain or compressed with zstd or gzip.
        ///
        /// Their attributes outside `user.*` are omitted.
        public var allowsForeignArchives = false

        /// The number of threads that decompress, from 1 to 64; `nil` for one per processor.
        public var threadCount: Int?

        /// Makes the default options.
        public init() {}
    }

    /// How much of the archive will be read.
    package typealias Access = PiecePlan

    /// The archive's own description; `nil` for another program's tar file.
    public let header: ArchiveHeader?

    /// Whether a tar file begins like the backup of an Android app.
    package let isAndroidBackup: Bool

    /// The size of the archive file; `nil` from a pipe.
    package let archiveBytes: UInt64?

    /// The operation that reads.
    package var operation: MigrationOperation { input.operation }

    private let entries: any EntryReader
    private var firstEntry: ArchiveEntry??
    private let strict: StrictTarReader?
    /// The pieces of a migration archive.
    private let pieces: PieceReader?
    /// The table of large files; `nil` if everything is read in order.
    private let listing: LargeFileTable?
    /// The entries that were selected, in place of all.
    private var selection: SelectedEntryReader?
    private let input: ArchiveInput
    /// Whether the caller is a client, whose task may be cancelled; operations of this project have
    /// a flag.
    private var followsTask = false
    private var failure: (any Error)?
    /// Whether something was skipped because it is damaged.
    private var hasGap = false
    /// Where reading resumed after the last damage, counted from the first piece.
    private var passedOver: UInt64 = 0

    /// Looks at the start of `input`, and at its end if that can be reached.
    ///
    /// With `toleratingDamage`, a missing or damaged end is ignored until it is reached. The
    /// entries of another program's tar file have `foreignMetadata`, if the file holds it.
    package init(
        _ input: ArchiveInput,
        access: Access,
        toleratingDamage: Bool = false,
        foreignMetadata: ExtraMetadata = []
    ) throws {
        self.input = input
        archiveBytes = input.fileSize
        let format = try ArchiveFormat.authenticated(in: input)
        isAndroidBackup = format.isAndroidBackup(input)
        guard case .migration(let frame) = format else {
            let source = try format.foreignSource(reading: input)
            (header, strict, pieces, listing) = (nil, nil, nil, nil)
            entries = ForeignTarReader(reading: TarStream(source), holding: foreignMetadata)
            return
        }
        header = frame.header
        try input.pass(frame)
        let index = try Self.index(of: input, after: frame, toleratingDamage: toleratingDamage)
        let located = access == .whole ? nil : index
        let listing = located.map { LargeFileTable(of: input, after: frame, index: $0) }
        self.listing = listing
        let pieces = PieceReader(
            reading: input,
            after: frame,
            index: index,
            plan: listing == nil ? .whole : access,
            listing: listing
        )
        self.pieces = pieces
        // Entries must not be taken from the table if the archive may be damaged.
        let strict = StrictTarReader(
            reading: TarStream(pieces, from: UInt64(frame.contentSize)),
            toleratingDamage || access == .comparing ? nil : listing,
            holding: frame.header.extraMetadata,
            readsAllContent: listing == nil
        )
        self.strict = strict
        entries = strict
    }

    /// The index at the archive's end; `nil` if it can't be reached, or if it is damaged and damage
    /// is tolerated.
    private static func index(
        of input: ArchiveInput,
        after frame: HeaderFrame,
        toleratingDamage: Bool
    ) throws -> ArchiveIndex? {
        do {
            return try input.readIndex(after: frame)
        } catch let error as ArchiveError where toleratingDamage && error.isOfArchive {
            return nil
        }
    }

    /// Reads up to another program's first entry, which ``next()`` returns: the first bytes of a
    /// compressed file don't show whether it is a tar file.
    ///
    /// - Throws: ``ArchiveError`` if the file is not a tar file, or is damaged at its start.
    package func readAhead() throws {
        guard header == nil, firstEntry == nil else { return }
        firstEntry = .some(try entries.next())
    }

    /// Returns the next entry, or `nil` after the last; content that was not read is skipped.
    ///
    /// - Returns: The entry, or `nil` once the archive was read to its end and is proved complete.
    /// - Throws: ``ArchiveError`` of codes `damaged`, `truncated`, `refused` and `unsupported` if
    ///   the archive is invalid, and of code `inputFailed` if it can't be read;
    ///   `CancellationError`.
    public func next() throws -> ArchiveEntry? {
        try reportingFailure {
            if let entry = firstEntry.take() { return entry }
            if let selection { return try selection.next() }
            let entry = try entries.next()
            if entry == nil { try checkTotals() }
            return entry
        }
    }

    /// Remembers an error of `body`, after which nothing more can be read.
    private func reportingFailure<Result>(_ body: () throws -> Result) throws -> Result {
        if let failure { throw failure }
        do {
            if followsTask, Task.isCancelled { operation.cancellation.cancel() }
            if followsTask { try operation.check() }
            return try body()
        } catch {
            if followsTask { failure = error }
            throw error
        }
    }

    /// Where the header of the current entry begins in the tar stream.
    package var entryOffset: UInt64 { entries.entryOffset }

    /// The current entry's place in its window.
    package var place: WindowPlace { selection?.place ?? entries.place }

    /// How much of the current entry's content the archive holds, apart from holes.
    package var storedSize: UInt64 { entries.storedSize }

    /// Whether, so far, no two entries can have the same path.
    var hasDistinctPaths: Bool { selection == nil && strict?.hasDistinctPaths ?? false }

    /// Whether an entry read from the current window has the path with ``EntryPath/randomHash`` `hash`.
    func windowHolds(_ hash: Int) -> Bool { strict?.windowHolds(hash) ?? false }

    /// Whether another program's tar file, as far as it was read, holds an `.xcappdata` bundle.
    package var holdsAppDataBundle: Bool {
        (entries as? ForeignTarReader)?.holdsAppDataBundle ?? false
    }

    /// Whether another program's tar file, read to its end, has no end mark.
    package var lacksEndMark: Bool { (entries as? ForeignTarReader)?.lacksEndMark ?? false }

    /// Whether bytes follow the end of another program's tar file, read to its end.
    package var hasTrailer: Bool { (entries as? ForeignTarReader)?.hasTrailer ?? false }

    /// Passes the content of the current entry to `body`, piece by piece.
    ///
    /// Everything between the pieces, and between the last one and the entry's size, is zeros. The
    /// content can be read once; entries other than files have none.
    ///
    /// - Parameter body: Gets each piece, which is valid only during the call, and its offset in the file.
    /// - Throws: The errors of ``next()`` and of `body`.
    public func readContent(
        _ body: (_ offset: UInt64, _ piece: Span<UInt8>) throws -> Void
    ) throws {
        try reportingFailure {
            try entries.readContent { offset, piece in
                if followsTask, Task.isCancelled { throw CancellationError() }
                try body(offset, piece)
            }
        }
    }

    /// The pieces that hold nothing but content of the current entry; `nil` from a pipe, of another
    /// program's tar file, or if an archive is read as a whole.
    package func contentPieces() throws -> ContentPieces? {
        guard let listing, let place = try strict?.contentPlace() else { return nil }
        return ContentPieces(from: place.start, size: place.size, in: listing.archive)
    }

    /// Passes the content of the current entry to `body`, without reading those of its `pieces`
    /// that `isKnown` knows.
    package func readContent(
        passingOver pieces: ContentPieces,
        where isKnown: (ContentPiece) throws -> Bool,
        _ body: (_ offset: UInt64, _ piece: Span<UInt8>) throws -> Void
    ) throws {
        try strict?.readContent(passingOver: pieces, where: isKnown, body)
    }

    /// Passes the content of the current entry to `body` in slices that stay valid after the next
    /// entry is read; returns `false` if the content must be read instead.
    package func takeContent(_ body: (UInt64, ContentSlice) throws -> Void) throws -> Bool {
        try entries.takeContent(body)
    }

    /// Reads a migration archive to its end without its entries, and checks each piece against its hash.
    package func provePieces(onProgress: (UInt64) -> Void) throws {
        while let chunk = try pieces?.nextChunk() {
            pieces?.recycle(chunk)
            onProgress(consumedBytes)
        }
        if index == nil { throw ArchiveError.cutShort }
    }

    /// Returns the parts of the current entry that can't be restored, once.
    package func takeOmissions() -> [EntryOmission] { entries.takeOmissions() }

    /// How many bytes of the archive were consumed, for progress.
    package var consumedBytes: UInt64 {
        pieces?.position ?? input.position
    }

    private var index: ArchiveIndex? { pieces?.index }

    /// The hash that identifies the archive, once its end is known; `nil` for another program's tar
    /// file.
    ///
    /// It is proved once ``next()`` has returned `nil`.
    public var fingerprint: Fingerprint? { index?.fingerprint }

    /// How much the archive holds, once its end is known; `nil` for another program's tar file.
    ///
    /// It is proved once ``next()`` has returned `nil`.
    public var totals: ArchiveTotals? { index?.totals }

    /// The bytes of the tar stream, once the archive's end is known.
    package var streamBytes: UInt64? { index?.streamBytes }

    /// The number of data frames, once the archive's end is known.
    package var frameCount: Int? { index?.frames.count }

    private func checkTotals() throws {
        guard let strict, !hasGap else { return }
        guard let index else {
            throw ArchiveError.cutShort
        }
        var counted = strict.totals
        // Pages of zeros are counted only if all content was read.
        if listing != nil { counted.dataBytes = index.totals.dataBytes }
        guard counted == index.totals, counted.dataBytes <= counted.contentBytes else {
            throw ArchiveError(.damaged, "the entries do not match the totals at the archive's end")
        }
        guard let entryIndex = try pieces?.entryIndex ?? listing?.index(),
            strict.entryIndex.isEncoded(as: entryIndex.bytes, frameCount: index.frames.count)
        else {
            let message = "the index of entries does not match the archive"
            throw ArchiveError(.damaged, message)
        }
    }
}

@available(*, unavailable)
extension ArchiveReader: Sendable {}

// MARK: - Opening

extension ArchiveReader {
    /// Opens the archive in a file.
    ///
    /// - Parameters:
    ///   - url: The file; a link to it is followed.
    ///   - options: How the archive is read.
    /// - Throws: ``ArchiveError`` of code `inputFailed` if the file can't be read, of code
    ///   `notAnArchive` if it isn't one, or another program's and those aren't allowed, of codes
    ///   `damaged`, `truncated` and `unsupported`, and of the codes of keys if it is encrypted and can't
    ///   be opened.
    public convenience init(_ url: URL, options: Options = Options()) throws {
        try self.init(options) { () throws(SystemError) in
            try FileDescriptor.openFollowingLinks(BytePath(of: url), .reading)
        }
    }

    /// Opens the archive that is read from an open descriptor, such as 0 for standard input.
    ///
    /// The descriptor stays open. A regular file is read from its start, whatever the descriptor's
    /// position.
    ///
    /// - Parameters:
    ///   - number: The number of the descriptor, which is open for reading.
    ///   - options: How the archive is read.
    /// - Throws: ``ArchiveError`` of the codes that ``init(_:options:)`` throws.
    public convenience init(descriptor number: Int32, options: Options = Options()) throws {
        try self.init(options) { () throws(SystemError) in
            try FileDescriptor.duplicate(ofNumber: number)
        }
    }

    private convenience init(
        _ options: Options,
        opening open: () throws(SystemError) -> FileDescriptor
    ) throws {
        let descriptor: FileDescriptor
        do throws(SystemError) {
            descriptor = try open()
        } catch {
            throw ArchiveError(.inputFailed, "the archive can't be opened", cause: error)
        }
        let input = try ArchiveInput(
            reading: descriptor,
            decryption: options.decryption,
            on: MigrationOperation(requesting: options.threadCount)
        )
        try self.init(input, access: .whole)
        guard header != nil || options.allowsForeignArchives else {
            let message = "not a migration archive but a tar file of another program"
            throw ArchiveError(.notAnArchive, message)
        }
        try readAhead()
        followsTask = true
    }
}

// MARK: - Selecting

extension ArchiveReader {
    /// Continues with the first of the entries at `paths` and below them, and returns no others.
    ///
    /// Only the frames around them are read, each checked against its hash. The totals and the index
    /// of entries are then not compared with the archive.
    ///
    /// - Returns: Whether the archive can be read selectively. If it is read as a whole or its
    ///   entries are not in tree order, nothing changes.
    package func select(_ paths: [EntryPath]) throws -> Bool {
        guard let strict, let entryIndex = try listing?.index(), entryIndex.isInTreeOrder else {
            return false
        }
        selection = try SelectedEntryReader(moving: strict, index: entryIndex, paths: paths)
        return true
    }
}

// MARK: - Comparing with another archive

extension ArchiveReader {
    /// Whether the entries are in tree order; `false` from a pipe and for other programs' tar
    /// files.
    package var isInTreeOrder: Bool {
        get throws {
            try listing?.index().isInTreeOrder ?? false
        }
    }

    /// The range of the current entry, from its first header to the end of its content, counted
    /// from the first piece.
    package var entryRange: Range<UInt64> {
        get throws {
            guard let strict else { return 0..<0 }
            let start = strict.entryOffset - strict.firstOffset
            return start..<max(start, try strict.nextOffset - strict.firstOffset)
        }
    }

    /// Whether the hashes of pieces prove that `range` holds the same bytes as the range of
    /// `other`.
    package func holds(
        _ range: Range<UInt64>,
        asHeldBy other: ArchiveReader,
        at otherRange: Range<UInt64>
    ) -> Bool {
        let chunk = UInt64(FrameFormat.chunkSize)
        guard let index = listing?.archive, let otherIndex = other.listing?.archive, !range.isEmpty,
            range.count == otherRange.count,
            range.lowerBound % chunk == otherRange.lowerBound % chunk
        else { return false }
        let first = Int(range.lowerBound / chunk)
        let otherFirst = Int(otherRange.lowerBound / chunk)
        return (0...Int((range.upperBound - 1) / chunk) - first).allSatisfy { number in
            index.digest(of: first + number) == otherIndex.digest(of: otherFirst + number)
        }
    }

    /// The hash of the content of the entry that begins at `start` from the first piece.
    package func contentDigest(ofEntryAt start: UInt64) throws -> [UInt8] {
        guard let strict, let listing else {
            throw ArchiveError(.inputFailed, "the archive can only be read in order")
        }
        // The totals are no longer those of the archive.
        hasGap = true
        let target = strict.firstOffset + start
        let piece = Int(start / UInt64(FrameFormat.chunkSize))
        let first = try listing.index().firstEntry(inPiece: piece) ?? 0
        // The times of a piece are counted from its first entry.
        if !(strict.firstOffset + first..<target).contains(strict.entryOffset) {
            try strict.seek(to: strict.firstOffset + first)
        }
        while try strict.next() != nil, strict.entryOffset < target { continue }
        guard strict.entryOffset == target else {
            throw ArchiveError(.damaged, "the archive holds no entry where it did", offset: target)
        }
        return try contentDigest()
    }

    /// The hash of the content of the current entry, which is read.
    package func contentDigest() throws -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 64 * 1024)
        var hasher = SHA256Hasher()
        var position: UInt64 = 0
        try readContent { offset, piece in
            while position < offset {
                let count = min(UInt64(zeros.count), offset - position)
                hasher.update(zeros.span.extracting(..<Int(count)))
                position += count
            }
            hasher.update(piece)
            position += UInt64(piece.count)
        }
        return hasher.finish()
    }
}

// MARK: - Resuming after damage

extension ArchiveReader {
    /// Where reading resumes after damage.
    struct Continuation {
        /// The path of the next entry, if the archive names it elsewhere.
        let path: EntryPath?
    }

    /// Resumes at the first entry that begins in a later, undamaged piece.
    ///
    /// The totals and the index of entries are then not compared with the archive. Reading can't
    /// resume if the archive is read in order, or if its index is damaged.
    ///
    /// `lost` gets the path of each skipped entry that the archive's end names.
    ///
    /// - Returns: Where that is; `nil` if there is none.
    /// - Throws: The errors of ``next()`` that are not about the archive, and those of `lost`.
    func passOverDamage(naming lost: (EntryPath) throws -> Void) throws -> Continuation? {
        hasGap = true
        guard let strict, selection == nil, let listing else { return nil }
        do {
            // The last entry was returned completely; those after it are lost.
            let offset = strict.entryOffset
            let known = offset < strict.firstOffset ? 0 : offset - strict.firstOffset + 1
            let start = max(known, passedOver)
            let index = try listing.index()
            let next = try nextSoundEntry(of: strict, by: index)
            passedOver = next ?? .max
            if start < passedOver { try listing.forEachPath(in: start..<passedOver, lost) }
            return next.map { next in
                let piece = Int(next / UInt64(FrameFormat.chunkSize))
                return Continuation(path: index.firstPath(inPiece: piece))
            }
        } catch let error as ArchiveError where error.isOfArchive {
            return nil
        }
    }

    /// Moves to the first entry in a later, undamaged piece; returns its start, counted from the first piece.
    private func nextSoundEntry(of strict: StrictTarReader, by index: EntryIndex) throws -> UInt64?
    {
        var piece = strict.piece + 1
        while let start = index.start(inPieceOrAfter: piece) {
            do {
                try strict.seek(to: strict.firstOffset + start)
                return start
            } catch let error as ArchiveError where error.isOfArchive {
                piece = Int(start / UInt64(FrameFormat.chunkSize)) + 1
            }
        }
        return nil
    }
}

// MARK: - Kinds of archives

/// The kind of archive that an input holds, by its first bytes, which stay unread.
enum ArchiveFormat {
    /// A migration archive, with the frame that it must begin with.
    case migration(HeaderFrame)
    /// A tar file of another program, compressed with zstd.
    case compressedTar
    /// A tar file of another program, compressed with gzip.
    case gzippedTar
    /// A tar file of another program.
    case plainTar

    /// Looks at the start of `input`.
    ///
    /// Damage of an encrypted file is reported before any problem in its content.
    static func authenticated(in input: ArchiveInput) throws -> ArchiveFormat {
        do {
            return try detect(in: input)
        } catch let error as ArchiveError where error.code == .notAnArchive {
            // The content of an encrypted file isn't trusted until it is authenticated.
            try input.proveDecryption()
            throw error
        }
    }

    /// The tar stream of another program's file.
    func foreignSource(reading input: ArchiveInput) throws -> any ChunkSource {
        switch self {
        case .plainTar: PlainTarSource(reading: input)
        case .compressedTar: try ZstdStreamSource(reading: input)
        case .gzippedTar: try GzipStreamSource(reading: input)
        case .migration: preconditionFailure("a migration archive has pieces")
        }
    }

    static func detect(in input: ArchiveInput) throws -> ArchiveFormat {
        guard try input.lookAhead(4) >= 4 else {
            throw ArchiveError(.notAnArchive, "not an archive: the input is empty or ends at once")
        }
        let magic = [UInt8](input.ahead.prefix(4)).littleEndian(at: 0, as: UInt32.self)
        if magic == FrameFormat.zstdMagic {
            return try header(in: input).map(ArchiveFormat.migration) ?? .compressedTar
        }
        if magic & 0xFFFF_FFF0 == FrameFormat.skippableMagic { return .compressedTar }
        if input.ahead.starts(with: GzipStreamSource.magic) { return .gzippedTar }
        guard try input.lookAhead(TarFormat.blockSize) >= TarFormat.blockSize else {
            throw notAnArchive(input)
        }
        let block = UstarBlock(copying: input.ahead)
        // Zeros alone have the form of an empty tar file, but a crash can also turn any other file
        // into zeros.
        guard !block.isZero, block.hasValidChecksum else {
            throw notAnArchive(input)
        }
        return .plainTar
    }

    /// Whether the input, of this format, begins with `apps/<package>/_manifest`, like an Android
    /// backup in a tar file.
    func isAndroidBackup(_ input: ArchiveInput) -> Bool {
        guard case .plainTar = self else { return false }
        let name = UstarBlock(copying: input.ahead).text(at: UstarBlock.Field.name)
        let names = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 3 && names[0].elementsEqual("apps".utf8)
            && names[2].elementsEqual("_manifest".utf8)
    }

    /// Reads the header of a migration archive; `nil` for any other file that zstd reads.
    private static func header(in input: ArchiveInput) throws -> HeaderFrame? {
        // A pipe may not hold more than a usual header yet.
        var start = try StreamStart(of: input, lookingAhead: 128 * 1024)
        guard start.bytes.count >= TarFormat.blockSize else { return nil }
        let block = UstarBlock(copying: start.bytes[...])
        guard block[UstarBlock.Field.typeFlag] == TypeFlag.globalHeader, block.hasValidChecksum,
            let size = block.octal(at: UstarBlock.Field.size), size <= UInt64(GlobalHeader.limit)
        else { return nil }
        if start.bytes.count < TarFormat.blockSize + Int(size) {
            start = try StreamStart(of: input, lookingAhead: 2 * GlobalHeader.limit)
        }
        guard start.bytes.count >= TarFormat.blockSize + Int(size) else { return nil }
        let body = start.bytes[TarFormat.blockSize..<TarFormat.blockSize + Int(size)]
        // A migration archive has no malformed records, so the file is something else.
        guard let records = try? PaxRecords(parsing: [UInt8](body)) else { return nil }
        return try HeaderFrame(holding: records)
    }

    private static func notAnArchive(_ input: ArchiveInput) -> ArchiveError {
        let known = KnownFile(beginningWith: input.ahead, named: input.name)
        return ArchiveError(
            .notAnArchive,
            "not a migration archive and not a tar file" + (known.map { " but \($0.name)" } ?? ""),
            remedy: known?.remedy
        )
    }
}

/// The start of a zstd frame's content, decompressed from its first bytes.
private struct StreamStart {
    private(set) var bytes: [UInt8] = []

    /// Decompresses the first `count` bytes of `input`, which stay unread.
    init(of input: ArchiveInput, lookingAhead count: Int) throws {
        let available = try input.lookAhead(count)
        self.init(of: [UInt8](input.ahead.prefix(available)))
    }

    private init(of compressed: [UInt8]) {
        guard let context = unsafe ZSTD_createDCtx() else { return }
        defer { _ = unsafe ZSTD_freeDCtx(context) }
        unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)
        var output = [UInt8](repeating: 0, count: TarFormat.blockSize + GlobalHeader.limit)
        let count = unsafe output.withUnsafeMutableBytes { output in
            unsafe compressed.withUnsafeBytes { input in
                var target = unsafe ZSTD_outBuffer(
                    dst: output.baseAddress,
                    size: output.count,
                    pos: 0
                )
                var source = unsafe ZSTD_inBuffer(
                    src: input.baseAddress,
                    size: input.count,
                    pos: 0
                )
                while unsafe source.pos < source.size, unsafe target.pos < target.size {
                    let result = unsafe ZSTD_decompressStream(context, &target, &source)
                    if ZSTD_isError(result) != 0 || result == 0 { break }
                }
                return unsafe target.pos
            }
        }
        bytes = [UInt8](output[..<count])
    }
}

extension UstarBlock {
    package init(copying bytes: ArraySlice<UInt8>) {
        for (index, byte) in bytes.prefix(TarFormat.blockSize).enumerated() {
            self.bytes[index] = byte
        }
    }
}
