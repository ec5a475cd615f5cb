internal import MigrationSystem

/// Checks an archive without restoring anything.
package enum ArchiveVerifier {
    /// What was found to be sound.
    package struct Result: Sendable {
        package let header: ArchiveHeader?
        package let totals: ArchiveTotals
        package let fingerprint: Fingerprint?
        package let streamBytes: UInt64?
        package let frameCount: Int?
        package let lacksEndMark: Bool
    }

    /// Checks every frame of a migration archive against its hash; reads another program's tar file
    /// from end to end.
    package static func verify(
        _ input: ArchiveInput,
        threadCount: Int,
        onProgress: (UInt64) -> Void
    ) throws -> Result {
        guard case .migration(let header) = try ArchiveFormat.detect(in: input) else {
            return try readThrough(input, onProgress: onProgress)
        }
        let prefetcher = FramePrefetcher(
            reading: FrameSource(reading: input, index: try ArchiveIndex.read(from: input)),
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
            lacksEndMark: false
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
        totals.dataBytes = totals.contentBytes
        return Result(
            header: nil,
            totals: totals,
            fingerprint: nil,
            streamBytes: nil,
            frameCount: nil,
            lacksEndMark: reader.lacksEndMark
        )
    }
}
