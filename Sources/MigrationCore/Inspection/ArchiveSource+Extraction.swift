public import Foundation
public import MigrationArchive
internal import MigrationSystem

extension ArchiveSource {
    /// Restores entries beneath a directory, with none of a container's rules.
    ///
    /// Nothing leaves the directory and nothing in it is replaced. What fails is taken back: entries
    /// are restored beside the directory's content and moved in when all of them are there.
    ///
    /// - Parameters:
    ///   - directory: The directory; it is made where it is missing.
    ///   - paths: The entries, each with everything below it; none stands for all.
    ///   - options: What becomes of links that lead out, and the number of threads where all entries are
    ///     restored; the rest does not apply.
    ///   - progress: Gets the archive's bytes as its total, and how many were read.
    /// - Returns: What was restored, and what was not.
    /// - Throws: `ArchiveError` of code `notFound` for a path that the archive does not hold, and of the
    ///   other codes of an import; ``MigrationError`` of code `outputExists` where something is in the
    ///   way, of `containerBusy` while another extraction into the directory is under way, and of codes
    ///   `invalidOption`, `outOfSpace` and `outputFailed`; `CancellationError`.
    public func extract(
        to directory: URL,
        only paths: [EntryPath] = [],
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try await extract(
            toPath: ByteString(pathOf: directory),
            only: paths,
            options: options,
            progress: progress
        )
    }

    /// Restores entries beneath the directory at a path of any bytes.
    @concurrent
    package func extract(
        toPath directory: [UInt8],
        only paths: [EntryPath],
        options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) async throws -> ImportReport {
        try ThreadCount.check(options.threadCount)
        return try await withOperationThread { cancellation in
            let session = ExtractionSession(
                source: self,
                directory: directory,
                paths: paths,
                options: options,
                progress: progress,
                cancellation: cancellation
            )
            return try session.run()
        }
    }
}
