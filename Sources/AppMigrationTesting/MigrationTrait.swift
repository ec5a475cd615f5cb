internal import Foundation
internal import MigrationHosting
internal import MigrationSystem
public import Testing

/// Gives each test an app's extension to test and its own container.
///
/// Make one with `.migration(of:)` or `.migration(executable:)`.
public struct MigrationTrait: SuiteTrait, TestTrait, TestScoping {
    let bundleIdentifier: String?
    let applicationGroups: [String]
    let makeExtension: @Sendable () async throws -> MigrationExtension

    /// Suites within a suite test the same extension.
    public var isRecursive: Bool { true }

    /// Makes the container and the app groups, runs the test, and removes them, also if the test fails.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let directory = try PrivateDirectory()
        defer { directory.remove() }
        var appExtension = try await makeExtension()
        appExtension.applicationGroups = try makeGroups(in: directory)
        let container = try MigrationDataContainer.makeFresh(
            in: directory,
            bundleIdentifier: bundleIdentifier,
            for: appExtension
        )
        let context = MigrationTestContext(
            container: container,
            applicationGroups: appExtension.applicationGroups
        )
        try await MigrationTestContext.$running.withValue(context) {
            try await ExtensionUnderTest(appExtension, container: container).perform(function)
        }
    }

    private func makeGroups(in directory: PrivateDirectory) throws -> [String: URL] {
        var groups: [String: URL] = [:]
        let parent = OpenFile(try FileDescriptor.open(directory.path, .directory))
        for (index, identifier) in applicationGroups.enumerated() {
            // An identifier need not be a valid file name.
            let name = "group-\(index)"
            try parent.descriptor.makeDirectory([UInt8](utf8: name), permissions: 0o755)
            groups[identifier] = directory.url.appending(path: name, directoryHint: .notDirectory)
        }
        return groups
    }
}
