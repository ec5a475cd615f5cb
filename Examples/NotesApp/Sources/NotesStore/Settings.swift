/// The person's settings.
public struct Settings: Codable, Equatable, Sendable {
    /// The order in which notes are listed.
    public enum SortOrder: String, CaseIterable, Codable, Sendable {
        /// By their titles.
        case title

        /// The newest first.
        case created
    }

    /// The order in which notes are listed.
    public var sortOrder = SortOrder.created

    /// Makes the settings of someone who has set nothing.
    public init() {}
}
