/// An extension that exports the app's resources and knows options of the destination.
///
/// Corresponds to AppMigrationKit's type of that name. Few destinations have options; without them,
/// conform to ``ResourcesExporting``.
///
/// Export files as they are. Converting them to another format first takes room that the device may
/// not have, and the export then fails; archiving, compressing and finding duplicates are the
/// archiver's work. What the app keeps in a cloud is not exported: the app fetches it on the other
/// side.
public protocol ResourcesExportingWithOptions: AppMigrationExtension {
    /// The options that the destination supports, named by their raw values.
    associatedtype OptionsType: CaseIterable, Hashable, RawRepresentable, Sendable
    where OptionsType.RawValue == String

    /// Appends everything that is to be exported to `archiver`.
    ///
    /// Append each resource as soon as it is ready: an extension that makes no progress for too long
    /// is taken to hang and is ended, and then nothing of it is exported. When the export is cancelled
    /// the archiver throws `CancellationError`; let it pass, for an extension that goes on is ended
    /// too.
    ///
    /// - Parameters:
    ///   - archiver: Takes the resources, one after another; it can't be shared between tasks.
    ///   - request: Where the resources go, and what the destination asks for.
    /// - Throws: Whatever makes the export fail; nothing of it is kept.
    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<OptionsType>
    ) async throws

    /// An estimate of the bytes that an export appends, asked for before the export.
    var resourcesSizeEstimate: Int { get async }

    /// The version of the format that the resources are in.
    ///
    /// It travels with the resources, and the importing side tells by it what it can read: change it
    /// whenever an older importer could not read what is exported.
    var resourcesVersion: String { get }

    /// Whether the resources are worth compressing; `false` where most of them are compressed already.
    var resourcesCompressible: Bool { get }
}
