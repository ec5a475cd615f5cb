internal import Foundation

/// The version of the messages; a host and an extension built with another don't work together.
let sessionVersion = 1

/// How a session begins: what the extension's process is told of the place that it works in.
struct SessionStart: Codable, Sendable {
    var version = sessionVersion
    let container: Data
    let bundleIdentifier: String
    let temporaryDirectory: Data
    let groups: [String: Data]
    /// Whether the container can't change during the session, so that its files can be appended ahead.
    let isContainerFixed: Bool
}

/// What an extension says of itself.
struct ExtensionDescription: Codable, Sendable {
    /// What it says of its exports.
    struct Exports: Codable, Sendable {
        let sizeEstimate: Int
        let resourcesVersion: String
        let isCompressible: Bool
        /// The names of the options that it knows.
        let options: [String]
    }

    let version: Int
    var name: String
    let exports: Exports?
    let imports: Bool
}

/// A request to export.
struct ExportCall: Codable, Sendable {
    let platform: MigrationPlatform
    let options: [String: Data]
}

/// A request to import.
struct ImportCall: Codable, Sendable {
    var directory: Data
    let source: MigrationAppIdentifier
    let sourceVersion: String
}

/// What the extension's process saw of the work that it is done with.
struct SessionSummary: Codable, Sendable {
    /// Whether the archiver threw a cancellation that the extension did not let pass.
    var wasCancelled = false

    /// What was seen of an import's progress.
    var progress = ImportProgressSummary()
}
