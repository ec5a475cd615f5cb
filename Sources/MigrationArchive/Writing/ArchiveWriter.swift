internal import Foundation
package import MigrationSystem

/// Writes one archive: a header, entries with their content, and the hashes that prove it whole.
///
/// Entries are written in the order of the calls. A caller that stops early calls ``abandon()``.
package final class ArchiveWriter {
    /// What was written, once the archive is finished.
    package struct Summary: Sendable {
        package let totals: ArchiveTotals
        package let fingerprint: Fingerprint
        package let archiveBytes: UInt64
        /// The bytes of the tar stream.
        package let streamBytes: UInt64
        /// What compression made of the stream; never more than it was.
        package let compressedStreamBytes: UInt64
    }

    /// The most bytes of headers and content that an archive holds.
    package static let longestStream = UInt64(ArchiveIndex.frameLimit * FrameFormat.chunkSize)

    private let pipeline: FrameCompressionPipeline
    private let output: ArchiveOutput
    private let cancellation: CancellationFlag
    private static let zeroBlock = [UInt8](repeating: 0, count: TarFormat.blockSize)

    private let encoder = TarEntryEncoder()
    private var chunk: FrameBuffer
    private var scratch: [UInt8] = []
    private var totals = ArchiveTotals()
    private var entryIndex = EntryIndexBuilder()
    private var submittedBytes: UInt64 = 0

    /// Begins an archive; `threadCount` threads compress it.
    package init(
        writingTo output: ArchiveOutput,
        header: ArchiveHeader,
        level: Int,
        threadCount: Int,
        cancellation: CancellationFlag
    ) throws {
        self.output = output
        self.cancellation = cancellation
        try output.begin(threadCount: threadCount)
        pipeline = try FrameCompressionPipeline(
            writingTo: output,
            level: level,
            isCompressible: header.isCompressible,
            threadCount: threadCount,
            cancellation: cancellation
        )
        chunk = pipeline.takeChunk()
        do {
            let records = try GlobalHeader.records(of: header)
            try encoder.encodeExtended(records, typeFlag: TypeFlag.globalHeader, to: &scratch)
            try appendScratch()
        } catch {
            abandon()
            throw error
        }
    }

    /// Appends an entry that has no content: a directory, a link or an empty file.
    package func append(_ entry: ArchiveEntry) throws {
        precondition(entry.contentSize == 0)
        try appendHeader(of: entry)
    }

    /// Appends a file's entry with its content, read from where `descriptor` stands.
    ///
    /// - Throws: ``ArchiveError`` of code `sourceChanged` where the file holds fewer bytes than the
    ///   entry says, and of code `sourceUnreadable` where reading fails. The archive is then to be
    ///   abandoned.
    package func append(
        _ entry: ArchiveEntry,
        contentFrom descriptor: borrowing FileDescriptor,
        onProgress: (Int) -> Void
    ) throws {
        try appendHeader(of: entry)
        var zeros = ZeroPageCounter()
        var rest = entry.contentSize
        while rest > 0 {
            if chunk.free == 0 { try nextChunk() }
            let start = chunk.count
            let count = Int(min(UInt64(chunk.free), rest))
            while chunk.count < start + count {
                try read(start + count - chunk.count, of: entry, from: descriptor)
            }
            zeros.add(chunk, from: start)
            rest -= UInt64(count)
            onProgress(count)
        }
        totals.dataBytes += entry.contentSize - zeros.bytes
        try appendPadding(for: entry.contentSize)
    }

    /// Appends a file's entry with its whole content.
    package func append(_ entry: ArchiveEntry, content: Span<UInt8>) throws {
        precondition(UInt64(content.count) == entry.contentSize)
        try appendHeader(of: entry)
        var zeros = ZeroPageCounter()
        var rest = content
        while !rest.isEmpty {
            if chunk.free == 0 { try nextChunk() }
            let start = chunk.count
            let count = min(chunk.free, rest.count)
            chunk.count = chunk.put(rest.extracting(first: count), at: start)
            zeros.add(chunk, from: start)
            rest = rest.extracting(droppingFirst: count)
        }
        totals.dataBytes += entry.contentSize - zeros.bytes
        try appendPadding(for: entry.contentSize)
    }

    /// Ends the archive and makes it whole; the bytes are written but not yet synchronized.
    package func finish() throws -> Summary {
        scratch = [UInt8](repeating: 0, count: 2 * TarFormat.blockSize)
        try appendScratch()
        if chunk.count > 0 { try pipeline.submit(chunk) }
        var index = try pipeline.finish()
        index.totals = totals
        let entries = entryIndex.encoded(frameCount: index.frames.count)
        index.append(entryIndex: entries)
        let end = index.encoded
        try output.write(entries.span)
        try output.write(end.span)
        return Summary(
            totals: totals,
            fingerprint: index.fingerprint,
            archiveBytes: try output.finish(),
            streamBytes: pipeline.streamBytes,
            compressedStreamBytes: pipeline.compressedStreamBytes
        )
    }

    /// Ends the work without an archive.
    package func abandon() {
        pipeline.abandon()
        output.abandon()
    }
}

// MARK: - The stream

extension ArchiveWriter {
    private func appendHeader(of entry: ArchiveEntry) throws {
        scratch.removeAll(keepingCapacity: true)
        do {
            try encoder.encode(entry, to: &scratch)
        } catch {
            throw ArchiveError(
                .unrepresentable,
                "can't be archived: \(error.reason)",
                entry: entry.path
            )
        }
        entryIndex.add(entry.path, at: submittedBytes + UInt64(chunk.count))
        try appendScratch()
        totals.count(entry)
    }

    private func appendScratch() throws {
        // Taken out meanwhile: no span of a property outlives the access to it.
        var bytes: [UInt8] = []
        swap(&bytes, &scratch)
        try append(bytes.span)
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &scratch)
    }

    private func append(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            if chunk.free == 0 { try nextChunk() }
            let count = min(chunk.free, rest.count)
            chunk.count = chunk.put(rest.extracting(first: count), at: chunk.count)
            rest = rest.extracting(droppingFirst: count)
        }
    }

    private func appendPadding(for size: UInt64) throws {
        let count = Int(TarFormat.padded(size) - size)
        try append(Self.zeroBlock.span.extracting(first: count))
    }

    private func nextChunk() throws {
        try pipeline.submit(chunk)
        submittedBytes += UInt64(chunk.count)
        chunk = pipeline.takeChunk()
    }

    private func read(
        _ count: Int,
        of entry: ArchiveEntry,
        from descriptor: borrowing FileDescriptor
    ) throws {
        try cancellation.check()
        let read: Int
        do {
            read = try descriptor.read(into: &chunk.bytes, from: chunk.count, count: count)
        } catch {
            throw ArchiveError(.sourceUnreadable, "can't be read", entry: entry.path, cause: error)
        }
        guard read > 0 else {
            throw ArchiveError(
                .sourceChanged,
                "became shorter while it was read",
                entry: entry.path
            )
        }
        chunk.count += read
    }
}
