public import Foundation
internal import MigrationSystem

/// The directories that a host gives the extension that it runs.
package struct ExtensionContext: Sendable {
    /// The container of the extension's app.
    package let container: MigrationDataContainer

    /// The directories of the app groups that the session grants, by identifier.
    package let groups: [String: URL]

    /// The extension's own directory for files that the host removes after the session.
    package let temporaryDirectory: URL?

    /// The files and directories that the session grants outside these directories.
    package let grants: SessionGrants

    package init(
        container: MigrationDataContainer,
        groups: [String: URL],
        temporaryDirectory: URL?,
        grants: SessionGrants = .none
    ) {
        (self.grants, self.container, self.groups) = (grants, container, groups)
        self.temporaryDirectory = temporaryDirectory
    }
}

extension ExtensionContext {
    /// The context of an extension that runs in this process, for the task that the host calls.
    @TaskLocal package static var current: ExtensionContext?

    private static let installed = Monitor<ExtensionContext?>(nil)

    /// Makes `context` the context of the whole process, which belongs to one extension.
    package static func install(_ context: ExtensionContext) {
        installed.withLock { $0 = context }
    }

    /// The context from the host; `nil` if no host runs the caller.
    package static var hosted: ExtensionContext? {
        current ?? installed.withLock { $0 }
    }

    /// The context from the host, or one with the container that the environment names.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid` if the environment names something
    ///   that isn't a container.
    package static var active: ExtensionContext? {
        get throws(MigrationError) {
            if let hosted { return hosted }
            guard let container = try MigrationDataContainer.namedByEnvironment else { return nil }
            return ExtensionContext(container: container, groups: [:], temporaryDirectory: nil)
        }
    }
}

#if !canImport(Darwin)
extension FileManager {
    /// Returns the directory of an app group that the session grants to the extension, or `nil`.
    ///
    /// Corresponds to Foundation's method of that name, which Linux lacks. The host does not clear
    /// the directory when an import fails. If the extension runs in its host's process, call this
    /// method in the task that the host called or in a child of that task.
    ///
    /// - Parameter groupIdentifier: The identifier of the app group.
    /// - Returns: The group's directory; `nil` outside a session, and if the session does not grant
    ///   the group.
    public func containerURL(
        forSecurityApplicationGroupIdentifier groupIdentifier: String
    ) -> URL? {
        ExtensionContext.hosted?.groups[groupIdentifier]
    }
}
#endif
