import AppMigrationTesting
import Foundation
import Glibc
import MigrationHosting
import TestSupport
import Testing

/// How a tester finds the extension to test, and the cases that it refuses.
@Suite struct TesterInitializerTests {
    /// Makes a tester, which must fail.
    private static func failure() async throws -> MigrationError {
        do {
            _ = try await AppMigrationTester(platform: .android)
        } catch let error as MigrationError {
            return error
        }
        throw CallFailure("the tester was made")
    }

    private static func clearEnvironment() {
        for name in [
            "MIGRATION_EXTENSION", "MIGRATION_ENTITLEMENTS", "MIGRATION_CONTAINER",
            "MIGRATION_GRANTS", "MIGRATION_GROUPS",
        ] {
            unsetenv(name)
        }
    }

    @Test
    func `rule 30: with neither extension nor container it says what to do`() async {
        await #expect(processExitsWith: .success) {
            TesterInitializerTests.clearEnvironment()
            let error = try await TesterInitializerTests.failure()
            #expect(error.code == .nothingToTest)
            for part in [
                ".migration(of:)", ".migration(executable:)", "AppMigrationTesting",
                "MIGRATION_EXTENSION", "MIGRATION_CONTAINER",
            ] {
                #expect(error.message.contains(part))
            }
            #expect(error.message.hasSuffix("; MIGRATION_EXTENSION is not set"))
        }
    }

    @Test
    func `rule 30: an extension without a container is not enough`() async {
        await #expect(processExitsWith: .success) {
            TesterInitializerTests.clearEnvironment()
            setenv("MIGRATION_EXTENSION", "/bin/true", 1)
            let error = try await TesterInitializerTests.failure()
            #expect(error.code == .nothingToTest)
            #expect(error.message.hasSuffix("; MIGRATION_CONTAINER is not set"))
        }
    }

    @Test
    func `rule 30: the environment names a program, its entitlements and a container`() async {
        await #expect(processExitsWith: .success) {
            TesterInitializerTests.clearEnvironment()
            setenv("MIGRATION_EXTENSION", "/bin/true", 1)
            setenv("MIGRATION_CONTAINER", "/tmp", 1)
            let beside = try await TesterInitializerTests.failure()
            #expect(beside.code == .entitlementInvalid)
            #expect(beside.message.contains("/bin/true.entitlements"))
            setenv("MIGRATION_ENTITLEMENTS", "/nowhere/named.entitlements", 1)
            let named = try await TesterInitializerTests.failure()
            #expect(named.code == .entitlementInvalid)
            #expect(named.message.contains("/nowhere/named.entitlements"))
        }
    }

    @Test
    func `rule 30: the environment names the directories of app groups`() async {
        await #expect(processExitsWith: .success) {
            TesterInitializerTests.clearEnvironment()
            let list = URL(filePath: "/tmp/migration-groups-\(getpid())")
            defer { try? FileManager.default.removeItem(at: list) }
            let groups = ["a", "b", "c"].map { "<string>\($0)</string>" }.joined()
            let text = """
                <plist><dict>
                <key>com.apple.developer.app-migration.data-container-access</key>
                <array><string>com.example.notes</string></array>
                <key>com.apple.security.application-groups</key><array>\(groups)</array>
                </dict></plist>
                """
            try Data(text.utf8).write(to: list)
            setenv("MIGRATION_EXTENSION", "/nonexistent/program", 1)
            setenv("MIGRATION_CONTAINER", "/tmp", 1)
            setenv("MIGRATION_ENTITLEMENTS", list.path, 1)
            setenv("MIGRATION_GROUPS", "a=/usr\nb=", 1)
            let unmapped = try await TesterInitializerTests.failure()
            #expect(unmapped.code == .entitlementInvalid)
            #expect(unmapped.message.contains("the app group c is declared"))
            setenv("MIGRATION_GROUPS", "a=/usr\nb=\nc=/etc", 1)
            #expect(try await TesterInitializerTests.failure().code == .extensionUnsuitable)
            setenv("MIGRATION_GROUPS", "a", 1)
            #expect(try await TesterInitializerTests.failure().code == .invalidOption)
            setenv("MIGRATION_GROUPS", "a=/usr\nb=\nc=/etc", 1)
            for (grants, words) in [
                ("programs", "MIGRATION_GRANTS has a line"), ("a=", "gives 'a' no path"),
                ("a=/var\nb=/nonexistent:rw", "'b' can't be reached"),
            ] {
                setenv("MIGRATION_GRANTS", grants, 1)
                let error = try await TesterInitializerTests.failure()
                #expect(error.code == .invalidOption)
                #expect(error.message.contains(words), "\(error)")
            }
            setenv("MIGRATION_GRANTS", "a=/var:ro", 1)
            #expect(try await TesterInitializerTests.failure().code == .extensionUnsuitable)
        }
    }

    @Test(.migration(of: IdleExtension.self))
    func `rule 30: fails where the extension takes no part`() async throws {
        let error = try await Self.failure()
        #expect(error.code == .extensionUnsuitable)
        #expect(error.message.contains("IdleExtension takes no part"))
    }

    @Test(.migration(executable: "/bin/true"))
    func `rule 30: checks the entitlement before anything runs`() async throws {
        let error = try await Self.failure()
        #expect(error.code == .entitlementInvalid)
        #expect(error.message.contains("/bin/true.entitlements"))
    }
}
