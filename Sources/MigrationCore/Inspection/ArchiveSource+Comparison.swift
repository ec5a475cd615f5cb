public import Foundation
internal import MigrationArchive
internal import MigrationSystem

extension ArchiveSource {
    /// Compares an archive with a container: content, kind, permissions, times, links and attributes.
    ///
    /// What an export leaves out by default, and sockets, FIFOs and devices, do not count as
    /// differences where the archive has no entry for them. An import that was cut off is brought to
    /// its end first.
    ///
    /// - Parameters:
    ///   - container: The container, which apps may be using but no migration.
    ///   - includesCaches: Whether `Library/Caches` counts too.
    ///   - host: Says how long it waits for a migration that uses the container.
    ///   - progress: Gets the archive's bytes as its total, and how many were compared.
    ///   - body: Is called for each difference.
    /// - Returns: The number of differences.
    /// - Throws: `ArchiveError` where the archive is damaged or a file of the container can't be read;
    ///   ``MigrationError`` of codes `containerBusy` and `containerInvalid`; what `body` throws;
    ///   `CancellationError`.
    public func compare(
        with container: MigrationDataContainer,
        includesCaches: Bool = false,
        host: MigrationHost = MigrationHost(),
        progress: Progress? = nil,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> Int {
        try await inspectComparing(
            with: container,
            includesCaches: includesCaches,
            host: host,
            progress: progress,
            body
        ).differences
    }

    /// Compares an archive with a container, and says what the archive is.
    @concurrent
    package func inspectComparing(
        with container: MigrationDataContainer,
        includesCaches: Bool,
        host: MigrationHost,
        progress: Progress?,
        _ body: @Sendable (ArchiveDifference) throws -> Void
    ) async throws -> (differences: Int, archive: ArchiveInspection) {
        try await withOperationThread { cancellation in
            let path = container.rootPath
            let lock = try host.wait(cancellation).untilFree(path) { () throws(MigrationError) in
                try ContainerRecovery.lockWhole(path)
            }
            defer { lock.release() }
            let input = try open(cancellation)
            let threadCount = ThreadCount.resolve(nil)
            let reader = try ArchiveReader(input, access: .whole(threadCount: threadCount))
            progress?.setTotal(Int64(clamping: input.size ?? 0))
            let selection = ContainerSelection(includesCaches: includesCaches, exclusions: [])
            return try withoutActuallyEscaping(body) { body in
                let comparison = ContainerComparison(
                    root: lock.root,
                    selection: selection,
                    cancellation: cancellation,
                    report: body
                )
                let differences = try comparison.run(reader) { consumed in
                    progress?.completedUnitCount = Int64(clamping: consumed)
                }
                return (differences, ArchiveInspection(reader, totals: reader.totals))
            }
        }
    }
}
