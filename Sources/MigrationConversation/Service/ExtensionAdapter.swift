package import Foundation
package import MigrationContract

/// A type-erased extension, as a session calls it.
package struct ExtensionAdapter: Sendable {
    /// The name of the extension's type.
    package let name: String

    private let exporting: (any ResourcesExportingWithOptions)?
    private let importing: (any ResourcesImporting)?

    package init(_ hosted: any AppMigrationExtension) {
        name = "\(type(of: hosted))"
        exporting = hosted as? any ResourcesExportingWithOptions
        importing = hosted as? any ResourcesImporting
    }

    /// Asks the extension for its description.
    package func description() async -> ExtensionDescription {
        var exports: ExportDescription?
        if let exporting { exports = await Self.exports(of: exporting) }
        return ExtensionDescription(
            version: sessionVersion,
            name: name,
            exports: exports,
            imports: importing != nil
        )
    }

    /// Calls the extension to append its resources to `destination`.
    package func export(_ call: ExportCall, to destination: any AppendDestination) async throws {
        guard let exporting else { throw missing("ResourcesExporting") }
        try await Self.export(with: exporting, call: call, to: destination)
    }

    /// Calls the extension to import a directory, and reports its progress to `onProgress`.
    ///
    /// - Returns: The observations of the progress.
    package func importResources(
        at directory: URL,
        request: ResourcesImportRequest,
        onProgress: @escaping @Sendable (ImportProgress) -> Void
    ) async throws -> ImportProgressSummary {
        guard let importing else { throw missing("ResourcesImporting") }
        // The observer's thread has no task, so it doesn't inherit the context of this one.
        let context = ExtensionContext.current
        let observer = ImportProgressObserver(
            reading: {
                ExtensionContext.$current.withValue(context) { importing.resourcesImportProgress }
            },
            onChange: onProgress
        )
        do {
            try await importing.importResources(at: directory, request: request)
        } catch {
            _ = observer.finish()
            throw error
        }
        return observer.finish()
    }

    private func missing(_ conformance: String) -> MigrationError {
        let message = "\(name) does not conform to \(conformance)"
        return MigrationError(.extensionUnsuitable, message)
    }

    private static func exports(
        of exporting: some ResourcesExportingWithOptions
    ) async -> ExportDescription {
        ExportDescription(
            sizeEstimate: await exporting.resourcesSizeEstimate,
            resourcesVersion: exporting.resourcesVersion,
            isCompressible: exporting.resourcesCompressible,
            options: Self.options(of: exporting),
            activity: await (exporting as? any ResumeActivityExporting)?.resumeActivity?.encoded
        )
    }

    private static func options<Exporter: ResourcesExportingWithOptions>(
        of exporting: Exporter
    ) -> [String] {
        Exporter.OptionsType.allCases.map(\.rawValue)
    }

    private static func export<Exporter: ResourcesExportingWithOptions>(
        with exporting: Exporter,
        call: ExportCall,
        to destination: any AppendDestination
    ) async throws {
        var options: [Exporter.OptionsType: Data] = [:]
        for (name, value) in call.options {
            guard let option = Exporter.OptionsType(rawValue: name) else {
                let known = Self.options(of: exporting).joined(separator: ", ")
                let message = "\(Exporter.self) has no option '\(name)'; it has: \(known)"
                throw MigrationError(.extensionUnsuitable, message)
            }
            options[option] = value
        }
        let request = MigrationRequestWithOptions(
            destinationPlatform: call.platform,
            options: options
        )
        try await exporting.exportResources(
            to: ResourcesArchiver(appendingTo: destination),
            request: request
        )
    }
}
