public import Foundation
internal import MigrationSystem

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

// MARK: - Additions to Apple's interface

extension AppMigrationTester {
    /// The mistakes that the last export or import of this tester came upon.
    ///
    /// They do not fail the export or import: expect that there are none. Empty where that failed. An
    /// addition to Apple's interface.
    public var findings: [ExtensionFinding] { subject.findings }

    /// What the last export of this tester did not append of the container and its app groups.
    ///
    /// `nil` before an export, and where it failed. An addition to Apple's interface.
    public var leftBehind: LeftBehind? { subject.leftBehind }

    /// Begins an export and cancels it at its first append, to see whether the extension obeys.
    ///
    /// Nothing of the export is kept. An addition to Apple's interface.
    ///
    /// - Returns: The mistakes that showed; none where the extension let the cancellation pass.
    /// - Throws: ``MigrationError`` of code `extensionUnsuitable` where the extension does not export,
    ///   and otherwise what ``MigrationHost`` throws of a preflight.
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

    /// Imports in a version that the extension can't know, to see whether it looks at the version.
    ///
    /// The extension exports first, and imports that in its own version too; both into containers and app
    /// groups that nobody keeps. An addition to Apple's interface.
    ///
    /// - Parameter version: The version, such as one that a later release might export.
    /// - Returns: The mistakes that showed; none where the extension refused the import.
    /// - Throws: What ``MigrationHost`` throws of a preflight with a ``VersionRehearsal``.
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

    /// How long testers wait for a container that another process uses; by default not at all.
    ///
    /// For operations of their own process they wait as long as those take. An addition to Apple's
    /// interface.
    public static var waitLimit: Duration {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }
}

extension MigrationHost {
    /// A host that waits as testers do.
    static var forTests: MigrationHost {
        var host = MigrationHost()
        host.waitLimit = AppMigrationTester.waitLimit
        // What an extension in this process calls must not wait for the operation that called it.
        host.queues = ExtensionContext.current?.temporaryDirectory == nil
        return host
    }
}

// MARK: - Exporting

extension AppMigrationTester {
    /// Has an extension export, and extracts what it exported.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public final class AppExportController: Sendable {
        private let subject: TestSubject

        init(of subject: TestSubject) {
            self.subject = subject
        }

        /// Has the extension export everything, with no options of the destination.
        ///
        /// The whole path of a real export is gone: an archive is written, proved, and extracted.
        ///
        /// - Parameters:
        ///   - request: What the export is for; `nil` is for the tester's platform.
        ///   - progress: Gets the extension's estimate as its total, and what was archived.
        /// - Returns: Where the extracted resources are, and what the extension said of them.
        /// - Throws: What the extension threw, as an `NSError`; ``MigrationError`` of code
        ///   `extensionUnsuitable` where it does not export, and otherwise what ``MigrationHost`` throws of an export.
        public func exportResources(
            request: MigrationRequest? = nil,
            progress: Progress? = nil
        ) async throws -> AppMigrationTester.ResourcesExportResult {
            let export = TesterExport(subject, request, progress)
            return try await export.run()
        }

        /// Has the extension export everything, with options of the destination.
        ///
        /// - Parameters:
        ///   - request: What the export is for; `nil` is for the tester's platform, with no options.
        ///   - progress: Gets the extension's estimate as its total, and what was archived.
        /// - Returns: Where the extracted resources are, and what the extension said of them.
        /// - Throws: What the extension threw, as an `NSError`; ``MigrationError`` of code
        ///   `extensionUnsuitable` where it does not export, or has other options, and otherwise what ``MigrationHost`` throws of an export.
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
            let export = TesterExport(subject, request, progress)
            return try await export.run()
        }

        /// Throws where the extension's options are of another type, as far as their names tell.
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
    /// What an export led to.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct ResourcesExportResult: Sendable {
        /// The directory that holds the resources, extracted; it lasts as long as the tester.
        public let extractedResourcesURL: URL

        /// What the export amounted to.
        public let exportProperties: AppMigrationTester.DeviceToDeviceExportProperties

        /// Keeps the resources, even where the tester is let go earlier.
        let directory: PrivateDirectory
    }
}

extension AppMigrationTester {
    /// What an export amounted to, and what the extension said of it.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public struct DeviceToDeviceExportProperties: Sendable {
        /// The bytes of the stream that the export wrote: what the extension appended, and its names.
        public let uncompressedBytes: Int

        /// What compression made of that stream, which is never more; `nil` where the extension asks for
        /// no compression.
        public let compressedBytes: Int?

        /// The extension's estimate of the bytes, made before the export.
        public let sizeEstimate: Int

        /// The version of the exported format.
        public let version: String
    }
}

// MARK: - Importing

extension AppMigrationTester {
    /// Has an extension import, and says how an import ended.
    ///
    /// Corresponds to AppMigrationKit's type of that name.
    public final class AppImportController: Sendable {
        private let subject: TestSubject

        init(of subject: TestSubject) {
            self.subject = subject
        }

        /// Has the extension import the resources in a directory into the container under test.
        ///
        /// A migration imports into a fresh container: empty it before. Here nothing is emptied, neither
        /// before nor after a failure, and no status is registered, so that a test can look at all of it.
        ///
        /// - Parameters:
        ///   - extractedResourceURL: The directory, such as that of an export; the extension may move
        ///     files out of it.
        ///   - importRequest: Where the resources come from; `nil` stands for the app itself on the
        ///     tester's platform, from that platform's store, in the version of the last export, else in
        ///     that which the extension exports, else "1.0".
        ///   - progress: Follows the extension's own progress.
        /// - Throws: What the extension threw, as the `NSError` that ``MigrationStatus`` would give the app;
        ///   ``MigrationError`` of code `extensionUnsuitable` where it does not import, of code
        ///   `invalidOption` where there is no such directory, and otherwise what ``MigrationHost`` throws
        ///   of an import.
        public func importResources(
            from extractedResourceURL: URL,
            importRequest: ResourcesImportRequest? = nil,
            progress: Progress? = nil
        ) async throws {
            subject.noteBeginning()
            try await throwingErrorsOfExtension {
                try await withOperationThread { cancellation in
                    let operation = TesterImport(
                        subject: subject,
                        directory: extractedResourceURL,
                        request: importRequest,
                        progress: progress,
                        cancellation: cancellation
                    )
                    try operation.run()
                }
            }
        }

        /// Persists how an import ended, as a migration does, for the app to find at its next launch.
        ///
        /// ``MigrationStatus/importStatus`` then has it in this process too; a failure is read back as an
        /// `NSError` of the same domain and code, with what ``PersistedError`` carries of the rest.
        ///
        /// - Parameter status: How the import ended.
        /// - Throws: ``MigrationError`` of codes `containerBusy`, `containerInvalid` and `outputFailed`.
        public func registerImportCompletion(with status: MigrationStatus) async throws {
            let completion = TesterCompletion(subject, ImportRecord.Outcome(status))
            try await withOperationThread { try completion.register($0) }
        }
    }
}
