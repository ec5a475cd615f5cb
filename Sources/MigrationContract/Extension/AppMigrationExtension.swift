public import ExtensionFoundation
public import Foundation

/// An app's extension that takes part in moving the app's data to another device.
///
/// Corresponds to AppMigrationKit's type of that name. On its own it does nothing: conform to
/// ``ResourcesExporting`` or ``ResourcesExportingWithOptions`` to export, to ``ResourcesImporting``
/// to import, or to both.
///
/// ```swift
/// @main
/// struct NotesMigration: ResourcesExporting, ResourcesImporting { … }
/// ```
///
/// The type needs an initializer without arguments; this library supplies `main()` and everything
/// else that runs it. While an extension works, neither the app nor another of its extensions runs,
/// so it has exclusive use of the container.
public protocol AppMigrationExtension: AppExtension, Sendable {
    /// The container of the extension's app; there is a default implementation.
    var appContainer: MigrationDataContainer { get }
}

extension AppMigrationExtension {
    /// The container that the host gave the extension, or the one that `MIGRATION_CONTAINER` names.
    ///
    /// If the extension runs in its host's process, use this property in the task that the host
    /// called or in a child of that task; a detached task has no host. Without a host and without
    /// that environment variable the program ends, because there is no container.
    public var appContainer: MigrationDataContainer {
        // Optimized builds print this message too, unlike that of a failed precondition.
        do {
            if let context = try ExtensionContext.active { return context.container }
        } catch {
            fatalError("\(MigrationDataContainer.environmentVariable) names no container: \(error)")
        }
        fatalError(
            """
            there is no app container: let a host run the extension, or set \
            \(MigrationDataContainer.environmentVariable) to the container's directory
            """
        )
    }
}

// MARK: - Exporting

/// An extension that exports the app's resources.
///
/// Corresponds to AppMigrationKit's type of that name. It is a ``ResourcesExportingWithOptions``
/// that has no options, so its requests are of type ``MigrationRequest``.
public protocol ResourcesExporting: ResourcesExportingWithOptions
where OptionsType == MigrationDefaultSupportedOptions {}

/// An extension that exports the app's resources and supports options of the destination.
///
/// Corresponds to AppMigrationKit's type of that name. Few destinations have options; without them,
/// conform to ``ResourcesExporting``.
///
/// Export files unchanged. Converting them to another format first takes space that the device may
/// not have, and then the export fails. The archiver compresses files and finds duplicates. Don't
/// export files that the app keeps in a cloud: the app fetches them again on the other device.
public protocol ResourcesExportingWithOptions: AppMigrationExtension {
    /// The options that the destination supports, named by their raw values.
    associatedtype OptionsType: CaseIterable, Hashable, RawRepresentable, Sendable
    where OptionsType.RawValue == String

    /// Appends every resource to `archiver`.
    ///
    /// Append each resource as soon as it is ready. If an extension makes no progress for too long,
    /// the host assumes that it hangs, ends it, and keeps nothing of the export. When the export is
    /// cancelled the archiver throws `CancellationError`; don't catch it, because the host also
    /// ends an extension that continues.
    ///
    /// - Parameters:
    ///   - archiver: Takes the resources one after another; tasks can't share it.
    ///   - request: The destination of the resources, and the options that it asks for.
    /// - Throws: Any error; the export then fails, and nothing of it is kept.
    func exportResources(
        to archiver: sending ResourcesArchiver,
        request: MigrationRequestWithOptions<OptionsType>
    ) async throws

    /// An estimate of the bytes that an export appends; the host asks for it before the export.
    var resourcesSizeEstimate: Int { get async }

    /// The version of the format of the resources.
    ///
    /// It is stored with the resources, and the importing extension uses it to decide whether it
    /// can read them. Change it whenever an older importer can't read the new format.
    var resourcesVersion: String { get }

    /// Whether compression is useful; return `false` if most resources are already compressed.
    var resourcesCompressible: Bool { get }
}

// MARK: - Importing

/// An extension that imports resources into the app's container.
///
/// Corresponds to AppMigrationKit's type of that name. It runs once, after the app is installed and
/// before the app can run for the first time.
public protocol ResourcesImporting: AppMigrationExtension {
    /// Moves the resources from a directory to where the app expects them.
    ///
    /// The directory is on the container's file system, so moving a file is fast and takes no
    /// space. The host removes the directory afterwards, with everything that is left in it. Check
    /// in `request` that the resources come from an app that you trust and have a version that you
    /// can read.
    ///
    /// If the import fails, the host clears the container, so that no part of the import remains.
    /// It does not clear the containers of app groups: before you import there, clear what the
    /// import replaces.
    ///
    /// - Parameters:
    ///   - url: The directory that holds the resources.
    ///   - request: The app that exported the resources, and their version.
    /// - Throws: Any error; the import then fails. The error is kept as an `NSError` for the app's
    ///   next launch (``MigrationStatus/importStatus``).
    func importResources(at url: URL, request: ResourcesImportRequest) async throws

    /// The progress of the import, updated while ``importResources(at:request:)`` runs.
    ///
    /// The host observes the object, so return the same one each time.
    var resourcesImportProgress: Progress { get }
}
