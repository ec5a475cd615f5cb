public import ExtensionFoundation
public import MigrationContract

@MainActor
extension AppMigrationExtension {
    /// What runs the extension; authors of extensions don't write it.
    public var configuration: some AppExtensionConfiguration {
        MigrationExtensionConfiguration(hosted: self)
    }

    /// The point of migrations; authors of extensions need not write it.
    @AppExtensionPoint.Bind public var extensionPoint: AppExtensionPoint {
        AppExtensionPoint.Identifier.migration
    }
}

/// Runs a migration extension in its own process.
struct MigrationExtensionConfiguration<Hosted: AppMigrationExtension>: RunnableConfiguration {
    let hosted: Hosted

    nonisolated func accept(connection: NSXPCConnection) -> Bool { false }

    func run() throws {
        try ExtensionService.run(hosted)
    }
}
