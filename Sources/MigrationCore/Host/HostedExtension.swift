/// An extension as the host sees it, wherever it runs: in this process or in one of its own.
///
/// Everything above this seam is the same for every extension.
protocol HostedExtension: Sendable {
    /// Says what there is to export, before anything is archived.
    func exportProperties(of container: MigrationDataContainer) async throws -> ExportProperties

    /// Appends everything that is to be exported.
    func exportResources(
        of container: MigrationDataContainer,
        to archiver: ItemArchiver
    ) async throws
}

/// What an extension says of its export before it begins.
struct ExportProperties: Sendable {
    /// The estimate of the content's bytes.
    let sizeEstimate: UInt64

    /// The bytes that the content takes on its disk, where that is known.
    let allocatedBytes: UInt64?

    /// The version of the data's format.
    let resourcesVersion: String

    /// Whether the content is worth compressing.
    let isCompressible: Bool
}
