public import Foundation

/// An extension that imports resources into the app's container.
///
/// Corresponds to AppMigrationKit's type of that name. It runs once, after the app is installed and
/// before the app can run for the first time.
public protocol ResourcesImporting: AppMigrationExtension {
    /// Moves the resources in a directory to where the app wants them.
    ///
    /// The directory is on the container's file system, so that moving a file is fast and takes no
    /// room; it is removed afterwards with what is left in it. Take data only from an app that is
    /// trusted and in a version that can be read, which `request` tells.
    ///
    /// When the import fails the container is cleared, so that no half of an import is left. The
    /// containers of app groups are not: clear what is to be replaced there before importing it.
    ///
    /// - Parameters:
    ///   - url: The directory that holds the resources.
    ///   - request: Where the resources come from.
    /// - Throws: Whatever makes the import fail. It is kept as an `NSError` for the app's next launch
    ///   (``MigrationStatus/importStatus``).
    func importResources(at url: URL, request: ResourcesImportRequest) async throws

    /// How far the import is, updated while ``importResources(at:request:)`` runs.
    ///
    /// The host observes the object that it gets: return the same one each time.
    var resourcesImportProgress: Progress { get }
}
