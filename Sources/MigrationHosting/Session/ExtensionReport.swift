internal import MigrationCore

/// An extension's description of itself, before any data moves.
public struct PreflightReport: Sendable, Codable {
    /// An extension's description of its exports.
    public typealias Exports = ExportDescription

    /// An app group of the extension.
    public struct ApplicationGroup: Sendable, Codable, Equatable {
        /// The group's identifier.
        public let identifier: String

        /// The group's directory, printable; `nil` if the session has none.
        public let directory: String?

        /// Whether the group is omitted on purpose.
        public let isLeftOut: Bool
    }

    /// The result of an import in a version that the extension can't know.
    public struct RehearsedVersion: Sendable, Codable, Equatable {
        /// The version that the extension got.
        public let version: String

        /// Whether it refused the import with an error.
        public let isRefused: Bool

        /// The text of the error; `nil` if the import succeeded.
        public let refusal: String?
    }

    /// The name of the extension's type.
    public let name: String

    /// The app that the entitlement names; `nil` if the entitlement is invalid.
    public let entitlement: String?

    /// The app groups that the entitlements declare or the session was given, by identifier.
    public let groups: [ApplicationGroup]

    /// The description of its exports; `nil` if it does not export.
    public let exports: Exports?

    /// Whether it imports.
    public let imports: Bool

    /// The free bytes at the destination; `nil` for a stream.
    public let availableSpace: UInt64?

    /// How it is confined.
    public let confinement: ConfinementReport

    /// How it sees the paths of its directories.
    public let paths: ExtensionPaths

    /// Possible mistakes that may be intended, a sentence each.
    public let warnings: [String]

    /// The mistakes that were found.
    public internal(set) var findings: [ExtensionFinding]

    /// The result of rehearsing a version; `nil` if none was rehearsed.
    public internal(set) var rehearsedVersion: RehearsedVersion?
}

/// The report of a session with an extension.
public struct ExtensionReport: Sendable, Codable {
    /// The name of the extension's type.
    public let name: String

    /// How the extension was confined.
    public let confinement: ConfinementReport

    /// How it sees the paths of its directories.
    public let paths: ExtensionPaths

    /// Possible mistakes that may be intended, a sentence each.
    public let warnings: [String]

    /// The mistakes that the session revealed.
    public let findings: [ExtensionFinding]
}
