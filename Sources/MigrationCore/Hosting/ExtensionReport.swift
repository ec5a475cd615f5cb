/// What an extension says of itself, before any data moves.
public struct PreflightReport: Sendable, Codable {
    /// An extension's description of its exports.
    public typealias Exports = ExportDescription

    /// An app group of the extension.
    public struct ApplicationGroup: Sendable, Codable, Equatable {
        /// The group's identifier.
        public let identifier: String

        /// The group's directory, as it may be printed; `nil` where it was given none.
        public let directory: String?

        /// Whether the group is left out on purpose.
        public let isLeftOut: Bool
    }

    /// What an import showed in a version that the extension can't know.
    public struct RehearsedVersion: Sendable, Codable, Equatable {
        /// The version that the extension was told.
        public let version: String

        /// Whether it refused the import by an error.
        public let isRefused: Bool

        /// What the error says; `nil` where the import succeeded.
        public let refusal: String?
    }

    /// The name of the extension's type.
    public let name: String

    /// The app whose container the entitlement names; `nil` where it is not in order.
    public let entitlement: String?

    /// The app groups that the entitlements declare or the session was given, by identifier.
    public let groups: [ApplicationGroup]

    /// What it says of its exports; `nil` where it does not export.
    public let exports: Exports?

    /// Whether it imports.
    public let imports: Bool

    /// The bytes that are free where the data goes; `nil` for a stream.
    public let availableSpace: UInt64?

    /// How it is confined.
    public let confinement: ConfinementReport

    /// How it sees the paths of its directories.
    public let paths: ExtensionPaths
    /// What may be a mistake and may be meant, a sentence each.
    public let warnings: [String]

    /// The mistakes that were found.
    public internal(set) var findings: [ExtensionFinding]

    /// What the rehearsal of a version showed; `nil` where there was none.
    public internal(set) var rehearsedVersion: RehearsedVersion?
}

/// What a session with an extension showed, beside the data that it moved.
public struct ExtensionReport: Sendable, Codable {
    /// The name of the extension's type.
    public let name: String

    /// How the extension was confined.
    public let confinement: ConfinementReport

    /// How it sees the paths of its directories.
    public let paths: ExtensionPaths
    /// What may be a mistake and may be meant, a sentence each.
    public let warnings: [String]

    /// The mistakes that the session came upon.
    public let findings: [ExtensionFinding]
}
