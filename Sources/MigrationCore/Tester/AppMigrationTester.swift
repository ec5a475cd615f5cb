/// Runs an app's extension in tests, as a migration would.
///
/// Corresponds to AppMigrationKit's type of that name. It hosts the real extension on a container that
/// is the test's own, with no device and no archive to handle:
///
/// ```swift
/// let tester = try await AppMigrationTester(platform: .android)
/// let result = try await tester.exportController.exportResources()
/// #expect(result.exportProperties.version == "3.0")
/// ```
///
/// Which extension and container are meant says the trait of the suite, `.migration(of:)` or
/// `.migration(executable:)` of the library `AppMigrationTesting`. Without such a trait it is the
/// environment: `MIGRATION_EXTENSION` is the path of the extension's program, `MIGRATION_ENTITLEMENTS`
/// that of its property list, if it is not beside the program, and `MIGRATION_CONTAINER` the
/// directory of the container. It is for tests alone.
///
/// Tests run side by side: where several testers in one process use one container, each export, import
/// and registration waits for its turn. ``waitLimit`` says how long a tester waits for other processes.
public actor AppMigrationTester: Sendable {
    let subject: TestSubject

    /// Finds the extension and asks it what it can do.
    ///
    /// - Parameter platform: The platform that the app's data goes to or comes from.
    /// - Throws: ``MigrationError`` of code `nothingToTest` where nobody said what to test, of code
    ///   `extensionUnsuitable` where the extension neither exports nor imports, and of codes
    ///   `confinementUnavailable`, `containerBusy`, `containerInvalid`, `entitlementInvalid`,
    ///   `extensionCrashed`, `extensionHung`, `outputFailed` and `sessionFailed`;
    ///   `CancellationError`.
    public init(platform: MigrationPlatform) async throws {
        subject = try await TestSubject(platform: platform)
    }

    /// Has the extension import.
    public var importController: AppMigrationTester.AppImportController {
        get async throws { AppImportController(of: subject) }
    }

    /// Has the extension export.
    public var exportController: AppMigrationTester.AppExportController {
        get async throws { AppExportController(of: subject) }
    }
}
