internal import MigrationArchive
internal import MigrationSystem

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
