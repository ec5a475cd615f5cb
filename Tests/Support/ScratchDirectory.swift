package import Foundation
@_exported public import TestTrees
package import Testing

/// Gives each test its own empty directory and removes it afterwards.
package struct ScratchDirectory: SuiteTrait, TestTrait, TestScoping {
    /// The directory of the test that is running.
    @TaskLocal package static var current: URL?

    /// Where the directories are made.
    fileprivate let parent: URL

    /// Tests in suites within a suite get directories too.
    package var isRecursive: Bool { true }

    /// Makes the directory, runs the test, and removes the directory, also if the test fails.
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let name = "migration-\(UUID().uuidString)"
        let url = parent.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { Self.remove(url) }
        try await Self.$current.withValue(url) { try await function() }
    }

    /// Removes the tree, with `rm` if Foundation gives up because it is deep, oddly named or
    /// locked.
    private static func remove(_ url: URL) {
        // If this fails for any reason, `rm` removes the rest.
        if (try? FileManager.default.removeItem(at: url)) != nil { return }
        let command = Process()
        command.executableURL = URL(filePath: "/bin/sh")
        command.arguments = ["-c", "chmod -R u+rwx \"$0\"; rm -rf \"$0\"", url.path]
        command.standardError = FileHandle.nullDevice
        try? command.run()
        command.waitUntilExit()
    }
}

extension Trait where Self == ScratchDirectory {
    /// A scratch directory for each test, at ``ScratchDirectory/current``.
    package static var scratchDirectory: Self {
        Self(parent: FileManager.default.temporaryDirectory)
    }

    /// A scratch directory on a disk, for tests of what file systems in memory do otherwise.
    package static var scratchDirectoryOnDisk: Self { Self(parent: URL(filePath: "/var/tmp")) }
}

extension BytePath {
    /// The directory of the running test; the test fails if it has none.
    package static var scratch: BytePath {
        get throws { BytePath(try #require(ScratchDirectory.current).path) }
    }
}
