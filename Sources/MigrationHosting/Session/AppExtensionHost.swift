internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// One session with an app's extension, from checking its entitlement to stopping it.
final class AppExtensionHost {
    /// The limit for the names of an extension's options, with a separator after each.
    private static let optionLimit = 8 << 10

    let appExtension: MigrationExtension
    let container: MigrationDataContainer
    let directories: SessionDirectories
    let session: any ExtensionSession
    let observer: SessionObserver
    let description: ExtensionDescription

    /// The extension's entitlement; `nil` if it needs none.
    let entitlement: Entitlement?

    /// Possible mistakes that may be intended.
    let warnings: [String]

    private var hasEnded = false

    /// Begins a session in `container`, which is locked and may stand for the container `live`.
    ///
    /// - Throws: ``MigrationError`` of code `entitlementInvalid` before the extension's code runs.
    static func begin(
        _ role: SessionDirectories.Role,
        of appExtension: MigrationExtension,
        in container: MigrationDataContainer,
        for live: MigrationDataContainer? = nil,
        from importDirectory: (path: BytePath, holder: BytePath?)? = nil,
        appendPolicy: AppendPolicy = .ahead,
        on operation: MigrationOperation
    ) throws -> AppExtensionHost {
        let entitlement: Entitlement?
        do {
            entitlement = try Entitlement.check(appExtension, for: container)
        } catch let problem as EntitlementProblem {
            throw problem.error
        }
        let entitled = container.identified(by: entitlement?.identifier)
        var directories = try SessionDirectories(role, container: entitled, for: appExtension)
        if appendPolicy == .answered { directories.appendPolicy = .answered }
        directories.importDirectory = importDirectory
        do {
            return try AppExtensionHost(
                appExtension,
                in: directories,
                entitlement: entitlement,
                warnings: [entitlement?.warning(for: live ?? container)].compactMap { $0 },
                on: operation
            )
        } catch {
            directories.remove()
            throw error
        }
    }

    /// Starts the extension with `directories` and asks it for its description.
    private init(
        _ appExtension: MigrationExtension,
        in directories: SessionDirectories,
        entitlement: Entitlement?,
        warnings: [String],
        on operation: MigrationOperation
    ) throws {
        let observer = SessionObserver()
        let session = try appExtension.beginSession(
            in: directories,
            observer: observer,
            on: operation
        )
        do {
            description = try Self.checked(session.description())
        } catch {
            session.abandon()
            session.paths.remove()
            let timeline = observer.timeline(of: appExtension.name, on: appExtension)
            appExtension.timelineHandler?(timeline)
            throw error
        }
        self.appExtension = appExtension
        self.container = directories.container
        self.directories = directories
        self.session = session
        self.observer = observer
        self.entitlement = entitlement
        self.warnings = warnings
    }

    /// An extension's description with a name that can be shown.
    ///
    /// - Throws: ``MigrationError`` of code `extensionUnsuitable` if its options are too long.
    private static func checked(
        _ description: ExtensionDescription
    ) throws(MigrationError) -> ExtensionDescription {
        var description = description
        description.name = BoundedText.name(description.name)
        let size = (description.exports?.options ?? []).reduce(0) { $0 + $1.utf8.count + 1 }
        guard size <= optionLimit else {
            let message = "\(description.name) has options of more than \(optionLimit) bytes"
            throw MigrationError(.extensionUnsuitable, message)
        }
        return description
    }

    /// Stops the extension if it still runs, and removes its temporary directory.
    func end() {
        session.abandon()
        if !hasEnded {
            let timeline = observer.timeline(of: description.name, on: appExtension)
            appExtension.timelineHandler?(timeline)
        }
        hasEnded = true
        session.paths.remove()
        directories.remove()
    }

    /// The extension's description of its exports.
    ///
    /// - Throws: ``MigrationError`` of code `extensionUnsuitable` if it does not export.
    func exports() throws(MigrationError) -> ExportDescription {
        guard let exports = description.exports else { throw lacking("ResourcesExporting") }
        return exports
    }

    /// Checks that the extension imports.
    ///
    /// - Throws: ``MigrationError`` of code `extensionUnsuitable` if it does not.
    func checkImports() throws(MigrationError) {
        guard description.imports else { throw lacking("ResourcesImporting") }
    }

    private func lacking(_ conformance: String) -> MigrationError {
        let message = "\(description.name) does not conform to \(conformance)"
        return MigrationError(.extensionUnsuitable, message)
    }
}

extension AppExtensionHost {
    /// The report to show before any data moves.
    func preflight(availableSpace: UInt64?, findings: [ExtensionFinding] = []) -> PreflightReport {
        PreflightReport(
            name: description.name,
            entitlement: entitlement?.identifier,
            groups: appExtension.groups(declared: entitlement?.applicationGroups ?? []),
            exports: description.exports.map { exports in
                var exports = exports
                exports.resourcesVersion = BoundedText.description(exports.resourcesVersion)
                return exports
            },
            imports: description.imports,
            availableSpace: availableSpace,
            confinement: session.confinement,
            paths: session.paths.form,
            warnings: warnings,
            findings: findings
                + [description.exports.flatMap { .emptyVersion($0.resourcesVersion) }]
                .compactMap { $0 }
        )
    }

    /// The report of the session with `findings`.
    func report(_ findings: [ExtensionFinding]) -> ExtensionReport {
        ExtensionReport(
            name: description.name,
            confinement: session.confinement,
            paths: session.paths.form,
            warnings: warnings,
            findings: findings
        )
    }
}

extension MigrationDataContainer {
    /// The same container, with the entitlement's app if nothing else names one.
    fileprivate func identified(by entitlement: String?) -> MigrationDataContainer {
        guard knownIdentifier == nil, let entitlement else { return self }
        return MigrationDataContainer(
            root: rootPath,
            knownIdentifier: entitlement,
            platform: knownPlatform
        )
    }
}
