import AppMigrationTesting
import Foundation
import Glibc
import MigrationHosting
import MigrationSystem
import TestSupport
import Testing

@testable import ProfileMigration

/// Testers of one container, in tests that run side by side as Swift Testing runs them.
struct TesterQueueTests {
    /// The environment of a process whose container all its tests share.
    private struct Shared {
        let directory: PrivateDirectory
        let container: MigrationDataContainer
        let tested: ExtensionUnderTest

        @MainActor init() throws {
            let hosted = MigrationExtension.inProcess(ProfileMigration())
            directory = try PrivateDirectory()
            container = try MigrationDataContainer.makeFresh(
                in: directory,
                bundleIdentifier: "com.example.profile",
                for: hosted
            )
            let profile = container.documentsDirectory.appending(path: "profile.txt")
            try Data(repeating: 0x70, count: 3_000_000).write(to: profile)
            tested = ExtensionUnderTest(hosted, container: container)
        }
    }

    @MainActor private static let shared = Result { try Shared() }

    /// The work of each of the four tests, repeated until they meet.
    private func exportAgainAndAgain() async throws {
        let shared = try await Self.shared.get()
        for _ in 1...5 {
            try await shared.tested.perform {
                let tester = try await AppMigrationTester(platform: .android)
                let result = try await tester.exportController.exportResources()
                #expect(result.exportProperties.uncompressedBytes > 3_000_000)
                try await tester.importController.registerImportCompletion(with: .success)
            }
        }
    }

    @Test func `the first of four testers has its turn`() async throws {
        try await exportAgainAndAgain()
    }

    @Test func `the second of four testers has its turn`() async throws {
        try await exportAgainAndAgain()
    }

    @Test func `the third of four testers has its turn`() async throws {
        try await exportAgainAndAgain()
    }

    @Test func `the fourth of four testers has its turn`() async throws {
        try await exportAgainAndAgain()
    }

    @Test(.migration(of: ProfileMigration.self))
    func `a tester names the process that holds the container, and waits where it may`()
        async throws
    {
        let container = try #require(MigrationTestContext.current).container
        let root = BytePath([UInt8](container.containerRootDirectory.path.utf8))
        let holder = Monitor<LockHolder?>(try LockHolder(asAppOf: root))
        let error = await #expect(throws: MigrationError.self) {
            _ = try await AppMigrationTester(platform: .android)
        }
        #expect(error?.code == .containerBusy)
        #expect(error?.message.contains("\(getpid())") ?? false)

        AppMigrationTester.waitLimit = .seconds(1_800)
        defer { AppMigrationTester.waitLimit = .zero }
        let thread = Thread {
            // Long enough for a tester that does not wait to fail.
            Thread.sleep(forTimeInterval: 0.3)
            holder.withLock { $0 = nil }
        }
        thread.start()
        _ = try await AppMigrationTester(platform: .android)
        #expect(holder.withLock { $0 == nil })
    }
}
