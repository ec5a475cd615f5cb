public import ExtensionFoundation

/// An app's extension that takes part in moving the app's data to another device.
///
/// Corresponds to AppMigrationKit's type of that name. Alone it does nothing: conform to
/// ``ResourcesExporting`` or ``ResourcesExportingWithOptions`` to export, to ``ResourcesImporting``
/// to import, or to both sides.
///
/// ```swift
/// @main
/// struct NotesMigration: ResourcesExporting, ResourcesImporting { … }
/// ```
///
/// The type needs an initializer without arguments; what runs it and `main()` come from here. While it
/// works, neither the app nor another of its extensions runs: it has the container to itself.
public protocol AppMigrationExtension: AppExtension, Sendable {
    /// The container of the app that the extension belongs to; there is a default.
    var appContainer: MigrationDataContainer { get }
}

extension AppMigrationExtension {
    /// The container that the host gave the extension, else that of `MIGRATION_CONTAINER`.
    ///
    /// In an extension that runs in its host's process, ask in the task that the host called, or in a
    /// child of it; a detached task has no host. With neither a host nor that environment variable
    /// there is no container, and the program ends.
    public var appContainer: MigrationDataContainer {
        // Unlike a precondition's, this message is printed by optimized builds too.
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
