package import MigrationArchive
package import MigrationContract
package import MigrationSystem

/// Chooses what an export archives; without an exporter, it is the whole container.
package protocol ContainerExporter: Sendable {
    /// Begins the export of `container`, which is locked.
    func beginExport(
        of container: MigrationDataContainer,
        options: ExportOptions,
        on operation: MigrationOperation
    ) throws -> any ContainerExport
}

/// One export of a ``ContainerExporter``.
package protocol ContainerExport {
    /// The container to export.
    var container: MigrationDataContainer { get }

    /// Data that is always omitted.
    var omissions: [Omission] { get }

    /// Describes the export before anything is archived; `availableSpace` bytes are free.
    func properties(availableSpace: UInt64?) throws -> ExportProperties

    /// Appends everything to export.
    func exportResources(to archiver: ItemArchiver) throws

    /// The report of an extension's session that exported `totals`; `nil` for a whole container.
    func report(on totals: ArchiveTotals) -> (any Sendable)?

    /// Cleans up after the export, whether it failed or not.
    func end()
}

/// The description of an export before it begins.
package struct ExportProperties: Sendable {
    /// The estimate of the content's bytes.
    let sizeEstimate: UInt64

    /// The bytes that the content takes on disk, if known.
    let allocatedBytes: UInt64?

    /// The version of the data's format.
    let resourcesVersion: String

    /// Whether the content is worth compressing.
    let isCompressible: Bool

    /// What the person was doing; `nil` if the exporter doesn't say.
    let activity: ResumeActivity?

    package init(
        sizeEstimate: UInt64,
        allocatedBytes: UInt64? = nil,
        resourcesVersion: String,
        isCompressible: Bool,
        activity: ResumeActivity? = nil
    ) {
        self.sizeEstimate = sizeEstimate
        self.allocatedBytes = allocatedBytes
        self.resourcesVersion = resourcesVersion
        self.isCompressible = isCompressible
        self.activity = activity
    }
}

// MARK: - The whole container

/// Exports everything in a container that is not left out by default or by the options.
struct WholeContainerExport: ContainerExport {
    let container: MigrationDataContainer
    let omissions: [Omission] = []
    /// The container's open directory.
    let root: OpenFile
    let options: ExportOptions
    let operation: MigrationOperation
    private let known = KnownStatuses()

    private var selection: ContainerSelection {
        ContainerSelection(includesCaches: options.includesCaches, exclusions: options.exclusions)
    }

    func properties(availableSpace: UInt64?) throws -> ExportProperties {
        let measure = try SourceMeasure.measure(
            root,
            selecting: selection,
            noting: known,
            on: operation
        )
        guard measure.contentBytes <= ArchiveWriter.longestStream else {
            let message = "an archive holds at most 1 TiB, and the container holds more"
            throw ArchiveError(.unrepresentable, message)
        }
        return ExportProperties(
            sizeEstimate: measure.contentBytes,
            allocatedBytes: measure.allocatedBytes,
            resourcesVersion: options.resourcesVersion,
            isCompressible: options.isCompressible
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        try archiver.appendContents(of: root, selecting: selection, knowing: known)
    }

    func report(on totals: ArchiveTotals) -> (any Sendable)? { nil }

    func end() {}
}
