public import Foundation
public import MigrationArchive
internal import MigrationSystem

/// Something in which an archive and a container differ.
public struct ArchiveDifference: Hashable, Sendable {
    /// What differs.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The archive holds the entry, the container does not.
        case onlyInArchive

        /// The container holds the entry, the archive does not.
        case onlyInContainer

        /// One is a file, a directory or a link, the other something else.
        case kind

        /// The bytes of a file.
        case content

        /// The permission bits.
        case permissions

        /// The time of the last change, to the nanosecond.
        case modificationTime

        /// Where a symbolic link leads.
        case linkTarget

        /// Which names stand for the same file.
        case hardLink

        /// The extended attributes of the `user.` namespace.
        case extendedAttributes
    }

    /// The entry that differs.
    public let path: EntryPath

    /// What differs.
    public let kind: Kind

    /// What each side has, as it may be printed; empty where the kind says it all.
    public let detail: String
}

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

/// Holds an archive against a container, entry by entry in the order of the archive, then looks for
/// what the container has beside.
final class ContainerComparison {
    private let root: OpenFile
    private let selection: ContainerSelection
    private let cancellation: CancellationFlag
    private let report: (ArchiveDifference) throws -> Void
    private var count = 0

    /// Hashes of the archive's paths: a set of a million paths themselves would take too much room.
    private var seen: Set<Int> = []

    init(
        root: OpenFile,
        selection: ContainerSelection,
        cancellation: CancellationFlag,
        report: @escaping (ArchiveDifference) throws -> Void
    ) {
        self.root = root
        self.selection = selection
        self.cancellation = cancellation
        self.report = report
    }

    /// Compares everything; returns the number of differences.
    func run(_ reader: ArchiveReader, onProgress: (UInt64) -> Void) throws -> Int {
        var comparator = try EntryComparator(root: root, report: add)
        while let entry = try reader.next() {
            try cancellation.check()
            seen.insert(entry.path.hashValue)
            try comparator.compare(entry, from: reader)
            onProgress(reader.consumedBytes)
        }
        var visitor = Visitor(comparison: self)
        var walker = SourceWalker(
            root: try root.descriptor.duplicate(),
            cancellation: cancellation
        )
        try walker.walk(&visitor)
        return count
    }

    private func add(_ difference: ArchiveDifference) throws {
        count += 1
        try report(difference)
    }

    private struct Visitor: SourceVisitor {
        let comparison: ContainerComparison

        func visit(_ item: SourceItem) throws {
            _ = try comparison.checkIsInArchive(item)
        }

        func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool {
            try comparison.checkIsInArchive(item)
        }

        func passesOver(_ item: SourceItem) -> Bool {
            comparison.selection.reasonForLeavingOut(item.path, isDirectory: true) != nil
        }
    }

    /// Returns whether the walk goes on below the item.
    private func checkIsInArchive(_ item: SourceItem) throws -> Bool {
        let isDirectory = item.status.kind == .directory
        guard selection.reasonForLeavingOut(item.path, isDirectory: isDirectory) == nil else {
            return false
        }
        switch item.status.kind {
        case .regular, .directory, .symbolicLink: break
        default: return false
        }
        let path = EntryPath(bytes: item.path)
        if !seen.contains(path.hashValue) {
            try add(ArchiveDifference(path: path, kind: .onlyInContainer, detail: ""))
        }
        return true
    }
}
