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
