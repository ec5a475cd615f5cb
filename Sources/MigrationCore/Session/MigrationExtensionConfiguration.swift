public import ExtensionFoundation

@MainActor
extension AppMigrationExtension {
    /// What runs the extension; authors of extensions don't write it.
    public var configuration: some AppExtensionConfiguration {
        MigrationExtensionConfiguration(hosted: self)
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
