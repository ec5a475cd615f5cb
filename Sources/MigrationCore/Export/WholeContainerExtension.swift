internal import MigrationArchive
internal import MigrationSystem

/// The extension for apps that have none: exports the whole container.
///
/// The host does the import itself: every entry goes back to its path in the staged container.
struct WholeContainerExtension: ExportingExtension {
    let container: MigrationDataContainer
    let root: OpenFile
    let selection: ContainerSelection
    let resourcesVersion: String
    let isCompressible: Bool
    private let operation: MigrationOperation
    private let known = KnownStatuses()

    /// Exports `container`, whose open directory is `root`.
    init(
        _ container: MigrationDataContainer,
        root: OpenFile,
        options: ExportOptions,
        operation: MigrationOperation
    ) {
        self.container = container
        self.root = root
        selection = ContainerSelection(
            includesCaches: options.includesCaches,
            exclusions: options.exclusions
        )
        resourcesVersion = options.resourcesVersion
        isCompressible = options.isCompressible
        self.operation = operation
    }

    func properties(availableSpace: UInt64?) throws -> ExportProperties {
        var measure = SourceMeasure(
            selecting: selection,
            readingWith: FileStatusReader(on: operation),
            noting: known
        )
        let copy = try root.descriptor.duplicate()
        var walker = SourceWalker(root: copy, cancellation: operation.cancellation)
        try walker.walk(&measure)
        guard measure.contentBytes <= ArchiveWriter.longestStream else {
            let message = "an archive holds at most 1 TiB, and the container holds more"
            throw ArchiveError(.unrepresentable, message)
        }
        return ExportProperties(
            sizeEstimate: measure.contentBytes,
            allocatedBytes: measure.allocatedBytes,
            resourcesVersion: resourcesVersion,
            isCompressible: isCompressible
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        try archiver.appendContents(of: root, selecting: selection, knowing: known)
    }

    func leftBehind(by archiver: ItemArchiver) -> LeftBehind? { nil }

    func report(of totals: ArchiveTotals) -> ExtensionReport? { nil }

    func end() {}
}
