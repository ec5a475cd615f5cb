package import MigrationSystem

/// Checks an archive without restoring anything.
package enum ArchiveVerifier {
    /// How much of an archive is checked.
    package enum Scope {
        /// The hashes alone; content is not decompressed.
        case hashes
        /// Everything, as an extraction with these options does, except for errors of the disk.
        ///
        /// State that does not fit into memory is kept in files that `makeFile` makes.
        case everything(
            ArchiveExtractor.Options,
            makeFile: () throws(SystemError) -> FileDescriptor
        )
    }

    /// Facts about an archive that was found to be sound.
    package struct Result: Sendable {
        package let header: ArchiveHeader?
        package let totals: ArchiveTotals
        package let fingerprint: Fingerprint?
        package let streamBytes: UInt64?
        package let frameCount: Int?
        package let lacksEndMark: Bool
        package let hasTrailer: Bool
        package let isAndroidBackup: Bool
    }

    /// Checks an archive as far as `scope` says; the tar file of another program, which has no hashes,
    /// is read from end to end in any case.
    package static func verify(
        _ input: ArchiveInput,
        scope: Scope,
        threadCount: Int,
        onProgress: (UInt64) -> Void
    ) throws -> Result {
        switch scope {
        case .hashes:
            return try verifyHashes(of: input, threadCount: threadCount, onProgress: onProgress)
        case .everything(let options, let makeFile):
            let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
            var options = options
            options.isLenient = reader.header == nil
            let extractor = ArchiveExtractor(restoringNothing: options, makeFile: makeFile)
            try extractor.extract(from: reader, onProgress: onProgress)
            return Result(reader, totals: extractor.totals)
        }
    }

    private static func verifyHashes(
        of input: ArchiveInput,
        threadCount: Int,
        onProgress: (UInt64) -> Void
    ) throws -> Result {
        try input.useThreads(threadCount)
        guard case .migration(let header) = try ArchiveFormat.detect(in: input) else {
            return try readThrough(input, onProgress: onProgress)
        }
        let prefetcher = try FramePrefetcher(
            reading: FrameSource(reading: input, index: try input.readIndex()),
            for: .verify,
            threadCount: threadCount,
            cancellation: input.cancellation
        )
        while let chunk = try prefetcher.nextChunk() {
            prefetcher.recycle(chunk)
            onProgress(prefetcher.compressedBytes)
        }
        guard let index = prefetcher.index else {
            throw ArchiveError(.truncated, "the archive ends before its hashes")
        }
        return Result(
            header: header,
            totals: index.totals,
            fingerprint: index.fingerprint,
            streamBytes: index.streamBytes,
            frameCount: index.frames.count,
            lacksEndMark: false,
            hasTrailer: false,
            isAndroidBackup: false
        )
    }

    private static func readThrough(
        _ input: ArchiveInput,
        onProgress: (UInt64) -> Void
    ) throws -> Result {
        let reader = try ArchiveReader(input, access: .selective)
        var totals = ArchiveTotals()
        while let entry = try reader.next() {
            totals.count(entry)
            onProgress(reader.consumedBytes)
        }
        return Result(reader, totals: totals)
    }
}

extension ArchiveVerifier.Result {
    /// Takes the facts from `reader`, which has read to the end, and `totals` if the archive has none.
    fileprivate init(_ reader: ArchiveReader, totals: ArchiveTotals) {
        var totals = reader.totals ?? totals
        if reader.header == nil { totals.dataBytes = totals.contentBytes }
        self.init(
            header: reader.header,
            totals: totals,
            fingerprint: reader.fingerprint,
            streamBytes: reader.streamBytes,
            frameCount: reader.frameCount,
            lacksEndMark: reader.lacksEndMark,
            hasTrailer: reader.hasTrailer,
            isAndroidBackup: reader.isAndroidBackup
        )
    }
}
