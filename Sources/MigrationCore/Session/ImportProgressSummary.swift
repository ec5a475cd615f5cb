/// What was seen of an extension's progress over a whole import.
struct ImportProgressSummary: Codable, Sendable {
    /// Whether a reading gave another object than the one before.
    var isNewPerRead = false

    /// Whether the count of completed units changed.
    var hasMoved = false

    /// The units completed at the end.
    var completed: Int64 = 0

    /// The units that there were at the end.
    var total: Int64 = 0
}
