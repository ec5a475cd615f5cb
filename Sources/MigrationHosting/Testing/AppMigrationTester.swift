public import Foundation
internal import MigrationCore
internal import MigrationSystem

/// Runs an app's extension in tests, as a migration would.
///
/// Corresponds to AppMigrationKit's type of that name. It hosts the real extension on the test's
/// own container, without a device or an archive:
///
/// ```swift
/// let tester = try await AppMigrationTester(platform: .android)
/// let result = try await tester.exportController.exportResources()
/// #expect(result.exportProperties.version == "3.0")
/// ```
///
/// The trait of the suite, `.migration(of:)` or `.migration(executable:)` of the library
/// `AppMigrationTesting`, names the extension and the container. Without such a trait, the
/// environment does: `MIGRATION_EXTENSION` is the path of the extension's program,
/// `MIGRATION_ENTITLEMENTS` the path of its property list if that is not beside the program,
/// `MIGRATION_CONTAINER` the container's directory, and `MIGRATION_GROUPS` and `MIGRATION_GRANTS` its
/// app groups and what a person granted. Use it only in tests.
///
/// Tests run in parallel: if several testers in one process use one container, their exports,
/// imports and registrations wait for each other. ``waitLimit`` limits the wait for other
/// processes.
public actor AppMigrationTester: Sendable {
    let subject: TestSubject

    /// Finds the extension and asks it for its description.
    ///
    /// - Parameter platform: The platform that the app's data goes to or comes from.
    /// - Throws: ``MigrationError`` of code `nothingToTest` if nothing names an extension, of code
    ///   `extensionUnsuitable` if the extension neither exports nor imports, and of codes
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

// MARK: - Additions to Apple's interface

extension AppMigrationTester {
    /// The mistakes that the last export or import of this tester revealed.
    ///
    /// They don't fail the export or import, so a test should expect none. Empty if that failed. An
    /// addition to Apple's interface.
    public var findings: [ExtensionFinding] { subject.findings }

    /// The files of the container and its app groups that the last export of this tester did not
    /// append.
    ///
    /// `nil` before an export, and if it failed. An addition to Apple's interface.
    public var leftBehind: LeftBehind? { subject.leftBehind }

    /// Begins an export and cancels it at its first append, to check that the extension obeys.
    ///
    /// Nothing of the export is kept. An addition to Apple's interface.
    ///
    /// - Returns: The mistakes that were found; none if the extension passed the cancellation on.
    /// - Throws: ``MigrationError`` of code `extensionUnsuitable` if the extension does not export,
    ///   and otherwise the errors of a preflight of ``MigrationHost``.
    public func rehearseCancellation() async throws -> [ExtensionFinding] {
        let report = try await MigrationHost.forTests.preflight(
            subject.container,
            using: subject.appExtension,
            rehearsesCancellation: true
        )
        guard report.exports != nil else {
            let message = "\(report.name) does not conform to ResourcesExporting"
            throw MigrationError(.extensionUnsuitable, message)
        }
        return report.findings
    }

    /// Imports in a version that the extension can't know, to test that it checks the version.
    ///
    /// The extension first exports, and also imports the export in its own version, both into
    /// temporary containers and app groups. An addition to Apple's interface.
    ///
    /// - Parameter version: The version, such as one that a later release might export.
    /// - Returns: The mistakes that were found; none if the extension refused the import.
    /// - Throws: The errors of a preflight of ``MigrationHost`` with a ``VersionRehearsal``.
    public func rehearseVersion(_ version: String) async throws -> [ExtensionFinding] {
        var rehearsal = VersionRehearsal(version: version)
        rehearsal.source.platform = subject.platform
        let report = try await MigrationHost().preflight(
            subject.container,
            using: subject.appExtension,
            versionRehearsal: rehearsal
        )
        return report.findings
    }
}

extension AppMigrationTester {
    private static let limit = Monitor(Duration.zero)

    /// How long testers wait for a container that another process uses; by default they don't.
    ///
    /// They wait without limit for operations of their own process. An addition to Apple's
    /// interface.
    public static var waitLimit: Duration {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }
}

// MARK: - Exporting

extension AppMigrationTester {
    /// Has an extension export, and extracts its export.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public final class AppExportController: Sendable {
        private let subject: TestSubject

        init(of subject: TestSubject) {
            self.subject = subject
        }

        /// Has the extension export everything, with no options of the destination.
        ///
        /// It performs all steps of a real export: an archive is written, verified, and extracted.
        ///
        /// - Parameters:
        ///   - request: The purpose of the export; `nil` means the tester's platform.
        ///   - progress: Gets the extension's estimate as its total, and what was archived.
        /// - Returns: The directory of the extracted resources, and the extension's description of
        ///   them.
        /// - Throws: The extension's error, as an `NSError`; ``MigrationError`` of code
        ///   `extensionUnsuitable` if it does not export, and otherwise the errors of an export of
        ///   ``MigrationHost``.
        public func exportResources(
            request: MigrationRequest? = nil,
            progress: Progress? = nil
        ) async throws -> AppMigrationTester.ResourcesExportResult {
            let export = TesterExport(subject, request: request, progress: progress)
            return try await export.run()
        }

        /// Has the extension export everything, with options of the destination.
        ///
        /// - Parameters:
        ///   - request: The purpose of the export; `nil` means the tester's platform, without
        ///     options.
        ///   - progress: Gets the extension's estimate as its total, and what was archived.
        /// - Returns: The directory of the extracted resources, and the extension's description of
        ///   them.
        /// - Throws: The extension's error, as an `NSError`; ``MigrationError`` of code
        /// `extensionUnsuitable` if it does not export or has other options, and otherwise the
        /// errors of an
        ///   export of ``MigrationHost``.
        public func exportResources<SupportedOptions>(
            request: MigrationRequestWithOptions<SupportedOptions>? = nil,
            progress: Progress? = nil
        ) async throws -> AppMigrationTester.ResourcesExportResult
        where
            SupportedOptions: CaseIterable, SupportedOptions: Hashable,
            SupportedOptions: RawRepresentable, SupportedOptions: Sendable,
            SupportedOptions.RawValue == String
        {
            try checkOptions(of: SupportedOptions.self)
            let export = TesterExport(subject, request: request, progress: progress)
            return try await export.run()
        }

        /// Checks that the extension's options are of this type, as far as their names show.
        private func checkOptions<Options: CaseIterable & RawRepresentable>(
            of type: Options.Type
        ) throws(MigrationError) where Options.RawValue == String {
            guard let known = subject.description.exports?.options else { return }
            for option in Options.allCases.map(\.rawValue) where !known.contains(option) {
                let message =
                    "\(subject.description.name) does not conform to ResourcesExportingWithOptions "
                    + "with \(Options.self) as its OptionsType: it has no option '\(option)'"
                throw MigrationError(.extensionUnsuitable, message)
            }
        }
    }
}

extension AppMigrationTester {
    /// The result of an export.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct ResourcesExportResult: Sendable {
        /// The directory that holds the resources, extracted; it lasts as long as the tester.
        public let extractedResourcesURL: URL

        /// The properties of the export.
        public let exportProperties: AppMigrationTester.DeviceToDeviceExportProperties

        /// Keeps the resources even after the tester is released.
        let directory: PrivateDirectory
    }
}

extension AppMigrationTester {
    /// The size of an export, and the extension's description of it.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct DeviceToDeviceExportProperties: Sendable {
        /// The bytes of the stream that the export wrote: the appended content and its names.
        public let uncompressedBytes: Int

        /// The compressed bytes of that stream, never more than the stream; `nil` if the extension
        /// asks for no compression.
        public let compressedBytes: Int?

        /// The extension's estimate of the bytes, made before the export.
        public let sizeEstimate: Int

        /// The version of the exported format.
        public let version: String
    }
}

// MARK: - Importing

extension AppMigrationTester {
    /// Has an extension import, and registers how an import ended.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public final class AppImportController: Sendable {
        private let subject: TestSubject

        init(of subject: TestSubject) {
            self.subject = subject
        }

        /// Has the extension import the resources in a directory into the container under test.
        ///
        /// A migration imports into a fresh container, so empty the container first. This method
        /// doesn't empty it, before the import or after a failure, and doesn't register a status,
        /// so that a test can check everything.
        ///
        /// - Parameters:
        ///   - extractedResourceURL: The directory, such as that of an export; the extension may
        ///     move files out of it.
        ///   - importRequest: The source of the resources; `nil` means the app itself on the
        ///     tester's platform, from that platform's store, in the version of the last export,
        ///     otherwise the version that the extension exports, otherwise "1.0".
        ///   - progress: Follows the extension's own progress.
        /// - Throws: The extension's error, as the `NSError` that ``MigrationStatus`` would give
        ///   the app; ``MigrationError`` of code `extensionUnsuitable` if it does not import, of
        ///   code `invalidOption` if there is no such directory, and otherwise the errors of an
        ///   import of ``MigrationHost``.
        public func importResources(
            from extractedResourceURL: URL,
            importRequest: ResourcesImportRequest? = nil,
            progress: Progress? = nil
        ) async throws {
            subject.noteBeginning()
            try await throwingErrorsOfExtension {
                try await withOperation(threadCount: 1, progress: progress) { operation in
                    let testerImport = TesterImport(
                        subject: subject,
                        directory: extractedResourceURL,
                        request: importRequest,
                        operation: operation
                    )
                    try testerImport.run()
                }
            }
        }

        /// Persists how an import ended, as a migration does, for the app's next launch.
        ///
        /// ``MigrationStatus/importStatus`` then returns it in this process too. A failure is read
        /// back as an `NSError` with the same domain and code, and the other information that
        /// ``PersistedError`` holds.
        ///
        /// - Parameter status: How the import ended.
        /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid` and
        ///   `outputFailed`.
        public func registerImportCompletion(with status: MigrationStatus) async throws {
            let completion = TesterCompletion(subject, outcome: ImportRecord.Outcome(status))
            try await withOperation(threadCount: 1) { try completion.register(on: $0) }
        }
    }
}
