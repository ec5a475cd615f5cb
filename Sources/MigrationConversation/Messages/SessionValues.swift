package import Foundation
package import MigrationContract
internal import MigrationSystem

/// The version of the messages; a host and an extension built with another don't work together.
package let sessionVersion = 2

/// How a session begins: what the extension's process is told of the place that it works in.
package struct SessionStart: Codable, Sendable {
    package var version = sessionVersion
    package let container: Data
    package let bundleIdentifier: String
    package let temporaryDirectory: Data
    package let groups: [String: Data]
    package let appendPolicy: AppendPolicy

    package init(
        container: Data,
        bundleIdentifier: String,
        temporaryDirectory: Data,
        groups: [String: Data],
        appendPolicy: AppendPolicy
    ) {
        self.container = container
        self.bundleIdentifier = bundleIdentifier
        self.temporaryDirectory = temporaryDirectory
        self.groups = groups
        self.appendPolicy = appendPolicy
    }
}

/// What an extension says of itself.
package struct ExtensionDescription: Codable, Sendable {
    /// What it says of its exports.
    package struct Exports: Codable, Sendable {
        package let sizeEstimate: Int
        package let resourcesVersion: String
        package let isCompressible: Bool
        /// The names of the options that it knows.
        package let options: [String]
    }

    package let version: Int
    package var name: String
    package let exports: Exports?
    package let imports: Bool
}

/// A request to export.
package struct ExportCall: Codable, Sendable {
    package let platform: MigrationPlatform
    package let options: [String: Data]

    package init(platform: MigrationPlatform, options: [String: Data]) {
        self.platform = platform
        self.options = options
    }
}

/// A request to import.
package struct ImportCall: Codable, Sendable {
    package var directory: Data
    package let source: MigrationAppIdentifier
    package let sourceVersion: String

    package init(directory: Data, source: MigrationAppIdentifier, sourceVersion: String) {
        self.directory = directory
        self.source = source
        self.sourceVersion = sourceVersion
    }
}

/// What the extension's process saw of the work that it is done with.
package struct SessionSummary: Codable, Sendable {
    /// Whether the archiver threw a cancellation that the extension did not let pass.
    package var wasCancelled = false

    /// What was seen of an import's progress.
    package var progress = ImportProgressSummary()
}

extension ExtensionContext {
    /// The context that a host's first message tells of.
    package init(_ start: SessionStart) {
        // As it is: resolved it may have characters that a URL must encode.
        let root = PathName(absolute: ByteString(start.container))
        self.init(
            container: MigrationDataContainer(root: root, knownIdentifier: start.bundleIdentifier),
            groups: start.groups.mapValues { URL(containerAtPath: ByteString($0)) },
            temporaryDirectory: URL(directoryAtPath: ByteString(start.temporaryDirectory))
        )
    }
}
