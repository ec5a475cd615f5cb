internal import MigrationContract

/// What was seen of an extension's progress over a whole import.
package struct ImportProgressSummary: Codable, Sendable {
    /// Whether a reading gave another object than the one before.
    package var isNewPerRead = false

    /// Whether the count of completed units changed.
    package var hasMoved = false

    /// The units completed at the end.
    package var completed: Int64 = 0

    /// The units that there were at the end.
    package var total: Int64 = 0
}
