import Foundation

/// How much of what could be tried the tests try.
package enum Thoroughness: Sendable {
    /// Whether everything is tried, as `Scripts/enumerate` asks for; it takes minutes.
    package static let isFull = ProcessInfo.processInfo.environment["MIGRATION_ENUMERATE"] == "1"
}
