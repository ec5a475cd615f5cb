internal import CZstd
package import MigrationSystem

/// Reads an archive: what it is, its entries in order, and at the end the proof that it is whole.
///
/// A migration archive is held to its format; the tar file of another program is read leniently and
/// carries no proof.
package final class ArchiveReader: RestorableArchive {
    /// How much of the archive will be read.
    package enum Access: Sendable {
        /// Everything, by several threads.
        case whole(threadCount: Int)
        /// Only what is asked for, where the archive is a file.
        case selective
    }

    /// What a migration archive says of itself; `nil` for another program's tar file.
    package let header: ArchiveHeader?

    /// Whether a tar file begins as the backup of an Android app does.
    package let isAndroidBackup: Bool

    /// The size of the archive file; `nil` from a pipe.
    package let archiveBytes: UInt64?

    private var entries: any EntryReader
    private var firstEntry: ArchiveEntry??
    private let strict: StrictTarReader?
    private let prefetcher: FramePrefetcher?
    private let knownIndex: ArchiveIndex?
    private let input: ArchiveInput

    /// How many threads may work on the archive.
    package let threadCount: Int

    /// Looks at the start of `input`, and at its end where that can be reached.
    package init(_ input: ArchiveInput, access: Access) throws {
        self.input = input
        threadCount = access.threadCount
        archiveBytes = input.fileSize
        try input.useThreads(threadCount)
        let foreign: any ChunkSource
        let format = try ArchiveFormat.detect(in: input)
        isAndroidBackup = format.isAndroidBackup(input)
        switch format {
        case .plainTar: foreign = PlainTarSource(reading: input)
        case .compressedTar: foreign = try ZstdStreamSource(reading: input)
        case .gzippedTar: foreign = try GzipStreamSource(reading: input)
        case .migration(let header):
            self.header = header
            knownIndex = try input.readIndex()
            let source: any ChunkSource
            if case .selective = access, let knownIndex {
                prefetcher = nil
                source = try FrameSeeker(reading: input, index: knownIndex)
            } else {
                let prefetcher = try Self.prefetcher(of: input, knownIndex, access)
                self.prefetcher = prefetcher
                source = prefetcher
            }
            let strict = try StrictTarReader(reading: TarStream(source), header: header)
            self.strict = strict
            entries = strict
            return
        }
        (header, strict, prefetcher, knownIndex) = (nil, nil, nil, nil)
        entries = ForeignTarReader(reading: TarStream(foreign))
    }

    private static func prefetcher(
        of input: ArchiveInput,
        _ index: ArchiveIndex?,
        _ access: Access
    ) throws -> FramePrefetcher {
        try FramePrefetcher(
            reading: FrameSource(reading: input, index: index),
            for: .decompress,
            threadCount: access.threadCount,
            cancellation: input.cancellation
        )
    }

    /// Reads up to another program's first entry, which ``next()`` returns: its first bytes alone
    /// don't tell what a compressed file is.
    ///
    /// - Throws: ``ArchiveError`` where the file is no tar file, or is damaged so early.
    package func readAhead() throws {
        guard header == nil, firstEntry == nil else { return }
        firstEntry = .some(try entries.next())
    }

    /// Returns the next entry, or `nil` after the last.
    package func next() throws -> ArchiveEntry? {
        if let entry = firstEntry.take() { return entry }
        let entry = try entries.next()
        if entry == nil { try checkTotals() }
        return entry
    }

    /// Where the header of the current entry begins in the tar stream.
    package var entryOffset: UInt64 { entries.entryOffset }

    /// How much of the current entry's content the archive holds, apart from holes.
    package var storedSize: UInt64 { entries.storedSize }

    /// Whether another program's tar file, read to its end, has no mark there.
    package var lacksEndMark: Bool { (entries as? ForeignTarReader)?.lacksEndMark ?? false }

    /// Whether bytes follow the end of another program's tar file, read to its end.
    package var hasTrailer: Bool { (entries as? ForeignTarReader)?.hasTrailer ?? false }

    /// Passes the content of the current entry to `body`; what lies between the pieces is zeros.
    package func readContent(
        _ body: (_ offset: UInt64, _ piece: Span<UInt8>) throws -> Void
    ) throws {
        try entries.readContent(body)
    }

    /// Takes the content of the current entry for use after the next one was read; `nil` where it
    /// does not lie in one piece, and is to be read.
    package func takeContent() throws -> ContentSlice? { try entries.takeContent() }

    /// What the current entry holds that can't be restored, once.
    package func takeOmissions() -> [EntryOmission] { entries.takeOmissions() }

    /// How many bytes of the archive were consumed, for showing progress.
    package var consumedBytes: UInt64 { prefetcher?.compressedBytes ?? input.position }

    /// The flag that ends all reading.
    package var cancellation: CancellationFlag { input.cancellation }

    private var index: ArchiveIndex? { knownIndex ?? prefetcher?.index }

    /// The hash that stands for the archive, once its end is known.
    package var fingerprint: Fingerprint? { index?.fingerprint }

    /// What the archive's end says it holds, once its end is known.
    package var totals: ArchiveTotals? { index?.totals }

    /// The bytes of the tar stream, once the archive's end is known.
    package var streamBytes: UInt64? { index?.streamBytes }

    /// The number of data frames, once the archive's end is known.
    package var frameCount: Int? { index?.frames.count }

    private func checkTotals() throws {
        guard let strict, entries === strict else { return }
        guard let index else {
            throw ArchiveError(.truncated, "the archive ends before its hashes")
        }
        var counted = strict.totals
        counted.dataBytes = index.totals.dataBytes
        guard counted == index.totals, counted.dataBytes <= counted.contentBytes else {
            throw ArchiveError(.damaged, "the archive does not hold what its end says it holds")
        }
        let entryIndex = try readEntryIndex(listedIn: index)
        let frameCount = index.frames.count
        guard strict.entryIndex.isEncoded(as: entryIndex.bytes, frameCount: frameCount) else {
            let message = "the index of entries does not say what the archive holds"
            throw ArchiveError(.damaged, message)
        }
    }

    private func readEntryIndex(listedIn index: ArchiveIndex) throws -> EntryIndex {
        try prefetcher?.entryIndex ?? input.readEntryIndex(listedIn: index)
    }
}

extension ArchiveReader {
    /// Goes on with the first of the entries at `paths` and below them, and returns no others.
    ///
    /// Only the frames around them are read, each checked against its hash. The totals and the index
    /// of entries are then not compared with what the archive holds.
    ///
    /// - Returns: Whether it can; where not, because the archive is read as a whole, or its entries
    ///   are not in the order of a tree, nothing changes.
    package func select(_ paths: [EntryPath]) throws -> Bool {
        guard let strict, prefetcher == nil, let knownIndex else { return false }
        let entryIndex = try readEntryIndex(listedIn: knownIndex)
        guard entryIndex.isInTreeOrder else { return false }
        entries = SelectedEntryReader(reading: strict, index: entryIndex, paths: paths)
        return true
    }
}

extension ArchiveReader.Access {
    fileprivate var threadCount: Int {
        if case .whole(let count) = self { count } else { 1 }
    }
}

// MARK: - What an input holds

/// Tells what kind of archive an input holds by its first bytes, which stay unread.
enum ArchiveFormat {
    /// A migration archive, with what its first bytes say of it.
    case migration(ArchiveHeader)
    /// A tar file of another program, compressed with zstd.
    case compressedTar
    /// A tar file of another program, compressed with gzip.
    case gzippedTar
    /// A tar file of another program.
    case plainTar

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
            throw notAnArchive(beginningWith: input.ahead)
        }
        let block = UstarBlock(copying: input.ahead)
        // Zeros alone are an empty tar file by their form, but also what a crash leaves of any other.
        guard !block.isZero, block.hasValidChecksum else {
            throw notAnArchive(beginningWith: input.ahead)
        }
        return .plainTar
    }

    /// Whether the input, of this format, begins with `apps/<package>/_manifest`, as a backup of Android's
    /// that is a tar file does.
    func isAndroidBackup(_ input: ArchiveInput) -> Bool {
        guard case .plainTar = self else { return false }
        let name = UstarBlock(copying: input.ahead).text(at: UstarBlock.Field.name)
        let names = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return names.count == 3 && names[0].elementsEqual("apps".utf8)
            && names[2].elementsEqual("_manifest".utf8)
    }

    /// Reads the header of a migration archive; `nil` for anything else that zstd reads.
    private static func header(in input: ArchiveInput) throws -> ArchiveHeader? {
        let available = try input.lookAhead(2 * GlobalHeader.limit)
        let start = StreamStart(of: [UInt8](input.ahead.prefix(available)))
        guard start.bytes.count >= TarFormat.blockSize else { return nil }
        let block = UstarBlock(copying: start.bytes[...])
        guard block[UstarBlock.Field.typeFlag] == TypeFlag.globalHeader, block.hasValidChecksum,
            let size = block.octal(at: UstarBlock.Field.size), size <= UInt64(GlobalHeader.limit),
            start.bytes.count >= TarFormat.blockSize + Int(size)
        else { return nil }
        let body = start.bytes[TarFormat.blockSize..<TarFormat.blockSize + Int(size)]
        guard let records = try? PaxRecords(parsing: [UInt8](body)) else { return nil }
        return try GlobalHeader.parse(records)
    }

    private static func notAnArchive(beginningWith bytes: ArraySlice<UInt8>) -> ArchiveError {
        let known: [(magic: [UInt8], name: String)] = [
            ([0x42, 0x5A, 0x68], "bzip2"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz"),
            ([0x50, 0x4B, 0x03, 0x04], "zip"),
        ]
        if bytes.starts(with: "ANDROID BACKUP\n".utf8) {
            let message =
                "not a migration archive but a backup of Android's: make an archive of it with "
                + "'migrate android convert'"
            return ArchiveError(.notAnArchive, message)
        }
        let name = known.first { bytes.starts(with: $0.magic) }?.name
        let hint = name.map { " but a \($0) file: unpack it first" } ?? ""
        return ArchiveError(.notAnArchive, "not a migration archive and not a tar file\(hint)")
    }
}

/// As much of the content of a zstd frame as its first compressed bytes give.
private struct StreamStart {
    private(set) var bytes: [UInt8] = []

    init(of compressed: [UInt8]) {
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
