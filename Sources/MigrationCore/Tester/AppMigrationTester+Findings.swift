// Additions to Apple's interface.

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
