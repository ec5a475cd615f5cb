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
