package import Foundation
internal import MigrationSystem

/// What a host gives the extension that it runs.
package struct ExtensionContext: Sendable {
    /// The container of the extension's app.
    package let container: MigrationDataContainer

    /// The directories of the app groups that the session grants, by identifier.
    package let groups: [String: URL]

    /// The extension's own directory for files that end with the session.
    package let temporaryDirectory: URL?

    package init(container: MigrationDataContainer, groups: [String: URL], temporaryDirectory: URL?) {
        self.container = container
        self.groups = groups
        self.temporaryDirectory = temporaryDirectory
    }
}

extension ExtensionContext {
    /// The context of an extension that runs in this process, for the task that the host calls.
    @TaskLocal package static var current: ExtensionContext?

    private static let installed = Monitor<ExtensionContext?>(nil)

    /// Makes `context` that of the whole process, which is an extension's own.
    package static func install(_ context: ExtensionContext) {
        installed.withLock { $0 = context }
    }

    /// The context that a host gave; `nil` where no host runs the caller.
    package static var hosted: ExtensionContext? {
        current ?? installed.withLock { $0 }
    }

    /// The context that a host gave, else one of the container that the environment names.
    ///
    /// - Throws: ``MigrationError`` of code `containerInvalid` where the environment names no container.
    package static var active: ExtensionContext? {
        get throws(MigrationError) {
            if let hosted { return hosted }
            guard let container = try MigrationDataContainer.namedByEnvironment else { return nil }
            return ExtensionContext(container: container, groups: [:], temporaryDirectory: nil)
        }
    }
}
