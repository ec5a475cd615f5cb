internal import MigrationSystem

/// Reads an archive: what it is, its entries in order, and at the end the proof that it is whole.
///
/// A migration archive is held to its format; the tar file of another program is read leniently and
/// carries no proof.
package final class ArchiveReader {
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
    let threadCount: Int

    /// Looks at the start of `input`, and at its end where that can be reached.
    package init(_ input: ArchiveInput, access: Access) throws {
        self.input = input
        threadCount = access.threadCount
        archiveBytes = input.fileSize
        let foreign: any ChunkSource
        let format = try ArchiveFormat.detect(in: input)
        isAndroidBackup = format.isAndroidBackup(input)
        switch format {
        case .plainTar: foreign = PlainTarSource(reading: input)
        case .compressedTar: foreign = try ZstdStreamSource(reading: input)
        case .gzippedTar: foreign = try GzipStreamSource(reading: input)
        case .migration(let header):
            self.header = header
            knownIndex = try ArchiveIndex.read(from: input)
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
    var entryOffset: UInt64 { entries.entryOffset }

    /// How much of the current entry's content the archive holds, apart from holes.
    var storedSize: UInt64 { entries.storedSize }

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
    func takeContent() throws -> ContentSlice? { try entries.takeContent() }

    /// What the current entry holds that can't be restored, once.
    package func takeDrops() -> [EntryDrop] { entries.takeDrops() }

    /// How many bytes of the archive were consumed, for showing progress.
    package var consumedBytes: UInt64 { prefetcher?.compressedBytes ?? input.position }

    /// The flag that ends all reading.
    var cancellation: CancellationFlag { input.cancellation }

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
        try prefetcher?.entryIndex ?? EntryIndex.read(from: input, listedIn: index)
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
