/// What a session with an extension showed, beside the data that it moved.
public struct ExtensionReport: Sendable, Codable {
    /// The name of the extension's type.
    public let name: String

    /// How the extension was confined.
    public let confinement: ConfinementReport

    /// The mistakes that the session came upon.
    public let findings: [ExtensionFinding]
}

/// How far an extension was kept from what it is not for.
public struct ConfinementReport: Sendable, Codable, Equatable {
    /// Whether files and system calls were confined.
    public let isConfined: Bool

    /// The version of Landlock that confined its files; 0 where none did.
    public let landlockVersion: Int

    /// Whether its system calls were filtered.
    public let filtersSystemCalls: Bool

    /// What was not confined, a phrase each.
    public let gaps: [String]
}

extension ConfinementReport {
    /// The report of an extension in its host's own process.
    static let ownProcess = ConfinementReport(lackingBecause: "it runs in its host's process")

    /// The report of an extension that nothing confines.
    init(lackingBecause reason: String) {
        isConfined = false
        landlockVersion = 0
        filtersSystemCalls = false
        gaps = ["everything: \(reason)"]
    }
}

/// What an extension says of itself, before any data moves.
public struct PreflightReport: Sendable, Codable {
    /// What the extension says of its exports.
    public struct Exports: Sendable, Codable {
        /// The estimate of the content's bytes.
        public let sizeEstimate: Int

        /// The version of the exported format.
        public let resourcesVersion: String

        /// Whether the content is worth compressing.
        public let isCompressible: Bool

        /// The names of the options that the extension knows.
        public let options: [String]
    }

    /// The name of the extension's type.
    public let name: String

    /// The app whose container the entitlement names; `nil` where it is not in order.
    public let entitlement: String?

    /// What it says of its exports; `nil` where it does not export.
    public let exports: Exports?

    /// Whether it imports.
    public let imports: Bool

    /// The bytes that are free where the data goes; `nil` for a stream.
    public let availableSpace: UInt64?

    /// How it is confined.
    public let confinement: ConfinementReport

    /// The mistakes that were found.
    public let findings: [ExtensionFinding]
}
