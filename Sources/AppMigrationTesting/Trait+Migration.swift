internal import ExtensionFoundation
public import Foundation
public import MigrationHosting
public import Testing

extension Trait where Self == MigrationTrait {
    /// Tests an extension in the tests' own process, where a debugger reaches it.
    ///
    /// Each test, and each case of one with arguments, gets its own extension and a fresh
    /// container, which ``MigrationTestContext/current`` returns. In the test's task and its child
    /// tasks, a tester finds both, and the import status and app groups are those of the container:
    ///
    /// ```swift
    /// @Suite(.migration(of: NotesMigration.self, bundleIdentifier: "com.example.notes"))
    /// struct NotesMigrationTests {
    ///     @Test func `keeps the notes`() async throws {
    ///         let container = try #require(MigrationTestContext.current).container
    ///         let note = container.documentsDirectory.appending(path: "note.txt")
    ///         try "Buy milk".write(to: note, atomically: true, encoding: .utf8)
    ///
    ///         let tester = try await AppMigrationTester(platform: .android)
    ///         let result = try await tester.exportController.exportResources()
    ///         try container.empty()
    ///         try await tester.importController.importResources(from: result.extractedResourcesURL)
    ///
    ///         #expect(try String(contentsOf: note, encoding: .utf8) == "Buy milk")
    ///         #expect(await tester.findings == [])
    ///     }
    /// }
    /// ```
    ///
    /// The extension isn't confined there. Also test it in its own process, to check that it works
    /// with the files that it may access.
    ///
    /// - Parameters:
    ///   - type: The type of the extension.
    ///   - bundleIdentifier: The bundle identifier of the extension's app.
    ///   - applicationGroups: The identifiers of the app groups that the extension may use.
    ///   - grants: The files and directories outside the container that a person granted to it.
    ///   - hangTimeout: How long it may go without an append, archived bytes, progress or another sign
    ///     of work.
    ///   - gracePeriod: How long it may take to end after it was cancelled.
    /// - Returns: A trait for suites and tests.
    public static func migration<Hosted: AppMigrationExtension>(
        of type: Hosted.Type,
        bundleIdentifier: String = "com.example.app",
        applicationGroups: [String] = [],
        grants: [GrantedResource] = [],
        hangTimeout: Duration = .seconds(30),
        gracePeriod: Duration = .seconds(5)
    ) -> Self {
        MigrationTrait(bundleIdentifier: bundleIdentifier, applicationGroups: applicationGroups) {
            var appExtension = await MainActor.run { MigrationExtension.inProcess(Hosted()) }
            appExtension.grantedResources = grants
            appExtension.hangTimeout = hangTimeout
            appExtension.gracePeriod = gracePeriod
            return appExtension
        }
    }

    /// Tests an extension in its own process, confined as in a migration.
    ///
    /// Each test, and each case of one with arguments, gets a fresh container, which
    /// ``MigrationTestContext/current`` returns; its bundle identifier is that of the entitlement.
    ///
    /// ```swift
    /// @Suite(.migration(executable: "NotesMigration", entitlements: entitlements))
    /// struct NotesMigrationProcessTests { … }
    /// ```
    ///
    /// - Parameters:
    ///   - executable: The name of a program that is built beside the tests, which is where a package's
    ///     executable targets are, or an absolute path.
    ///   - entitlements: The property list of its entitlements; `nil` means the file beside the
    ///     program with `.entitlements` after its name.
    ///   - applicationGroups: The identifiers of the app groups that the extension may use.
    ///   - grants: The files and directories outside the container that a person granted to it.
    ///   - confinement: Whether the process must be confined.
    ///   - hangTimeout: How long it may go without an append, archived bytes, progress or another sign
    ///     of work.
    ///   - gracePeriod: How long it may take to end after it was cancelled.
    /// - Returns: A trait for suites and tests.
    public static func migration(
        executable: String,
        entitlements: URL? = nil,
        applicationGroups: [String] = [],
        grants: [GrantedResource] = [],
        confinement: MigrationExtension.ConfinementPolicy = .whereAvailable,
        hangTimeout: Duration = .seconds(30),
        gracePeriod: Duration = .seconds(5)
    ) -> Self {
        MigrationTrait(bundleIdentifier: nil, applicationGroups: applicationGroups) {
            var appExtension = MigrationExtension.executable(at: BuiltProgram.url(of: executable))
            appExtension.entitlements = entitlements
            appExtension.grantedResources = grants
            appExtension.confinement = confinement
            appExtension.hangTimeout = hangTimeout
            appExtension.gracePeriod = gracePeriod
            return appExtension
        }
    }
}
