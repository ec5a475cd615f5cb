import Foundation

/// How much of what could be tried the tests try.
public enum Thoroughness: Sendable {
    /// Whether everything is tried, as `Scripts/enumerate` asks for; it takes minutes.
    public static let isFull = ProcessInfo.processInfo.environment["MIGRATION_ENUMERATE"] == "1"
}
