internal import MigrationArchive

/// An extension as an export sees it: the one for apps that have none, or an app's own.
///
/// Everything above this seam is the same for every extension.
protocol ExportingExtension {
    /// The container that is exported.
    var container: MigrationDataContainer { get }

    /// Says what there is to export, before anything is archived, where `availableSpace` is free.
    func properties(availableSpace: UInt64?) throws -> ExportProperties

    /// Appends everything that is to be exported.
    func exportResources(to archiver: ItemArchiver) throws

    /// Finds what was not appended, once `archiver` has everything; `nil` for the extension of no app.
    func leftBehind(by archiver: ItemArchiver) throws -> LeftBehind?

    /// Says what the session showed, once the export is done; `nil` for the extension of no app.
    func report(of totals: ArchiveTotals) -> ExtensionReport?

    /// Ends what the export began, whatever became of it.
    func end()
}
