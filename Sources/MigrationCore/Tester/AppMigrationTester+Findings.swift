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
}
