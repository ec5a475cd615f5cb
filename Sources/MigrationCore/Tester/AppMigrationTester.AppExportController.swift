public import Foundation

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
