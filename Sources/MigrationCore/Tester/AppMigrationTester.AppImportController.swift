public import Foundation

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
                    let session = TesterImport(
                        subject: subject,
                        directory: extractedResourceURL,
                        request: importRequest,
                        progress: progress,
                        cancellation: cancellation
                    )
                    try session.run()
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
