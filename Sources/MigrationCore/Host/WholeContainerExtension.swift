internal import MigrationArchive
internal import MigrationSystem

/// The extension for apps that have none: the whole container out.
///
/// Its import is the host's own: every entry goes back at its path in the staged container.
struct WholeContainerExtension: ExportingExtension {
    let container: MigrationDataContainer
    let selection: ContainerSelection
    let resourcesVersion: String
    let isCompressible: Bool
    let cancellation: CancellationFlag

    init(
        _ container: MigrationDataContainer,
        options: ExportOptions,
        cancellation: CancellationFlag
    ) {
        self.container = container
        selection = ContainerSelection(
            includesCaches: options.includesCaches,
            exclusions: options.exclusions
        )
        resourcesVersion = options.resourcesVersion
        isCompressible = options.isCompressible
        self.cancellation = cancellation
    }

    func properties(availableSpace: UInt64?) throws -> ExportProperties {
        var measure = SourceMeasure(selecting: selection)
        let root = try FileDescriptor.open(container.rootPath.path, .directory)
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&measure)
        return ExportProperties(
            sizeEstimate: measure.contentBytes,
            allocatedBytes: measure.allocatedBytes,
            resourcesVersion: resourcesVersion,
            isCompressible: isCompressible
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        try archiver.appendContents(of: container, selecting: selection)
    }

    func report(of totals: ArchiveTotals) -> ExtensionReport? { nil }

    func end() {}
}
