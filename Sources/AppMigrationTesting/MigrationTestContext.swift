public import Foundation
public import MigrationHosting

/// The surroundings that a suite's trait gives a test: its own container, and app groups.
///
/// ```swift
/// let container = try #require(MigrationTestContext.current).container
/// try "Buy milk".write(
///     to: container.documentsDirectory.appending(path: "note.txt"),
///     atomically: true,
///     encoding: .utf8
/// )
/// ```
public struct MigrationTestContext: Sendable {
    @TaskLocal static var running: MigrationTestContext?

    /// The context of the test that is running; `nil` in a test without a trait of migrations.
    public static var current: MigrationTestContext? { running }

    /// The container of the app, which is fresh when the test begins.
    public let container: MigrationDataContainer

    /// The directories of the app groups, by identifier; each is empty when the test begins.
    ///
    /// In a test `FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` returns them too.
    public let applicationGroups: [String: URL]
}
