internal import MigrationSystem

/// The extension for apps that have none: the whole container out.
///
/// Its import is the host's own: every entry goes back at its path in the staged container.
struct WholeContainerExtension: HostedExtension {
    let selection: ContainerSelection
    let resourcesVersion: String
    let isCompressible: Bool
    let cancellation: CancellationFlag

    init(options: ExportOptions, cancellation: CancellationFlag) {
        selection = ContainerSelection(
            includesCaches: options.includesCaches,
            exclusions: options.exclusions
        )
        resourcesVersion = options.resourcesVersion
        isCompressible = options.isCompressible
        self.cancellation = cancellation
    }

    func exportProperties(of container: MigrationDataContainer) throws -> ExportProperties {
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

    func exportResources(
        of container: MigrationDataContainer,
        to archiver: ItemArchiver
    ) throws {
        try archiver.appendContents(of: container, selecting: selection)
    }
}
