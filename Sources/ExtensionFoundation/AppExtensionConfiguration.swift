/// Runs an extension in its process.
///
/// Corresponds to ExtensionFoundation's type of that name. Authors of migration extensions don't
/// write one, because MigrationCore supplies it.
@preconcurrency @MainActor public protocol AppExtensionConfiguration: Sendable {
    /// Returns whether the extension takes a connection; this system never offers one.
    nonisolated func accept(connection: NSXPCConnection) -> Bool
}

/// A configuration that can run its extension to the end.
package protocol RunnableConfiguration: AppExtensionConfiguration {
    /// Serves the extension's host, and returns when there is nothing more to do.
    @MainActor func run() throws
}
