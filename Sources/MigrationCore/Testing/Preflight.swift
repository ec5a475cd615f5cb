internal import Foundation
internal import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

extension MigrationHost {
    /// Asks an app's extension for its description, before any data moves.
    ///
    /// Every export and import begins with this; a preflight alone changes nothing. An invalid
    /// entitlement is a finding here, and the extension is not started.
    ///
    /// - Parameters:
    ///   - container: The app's container, which nobody else may be using.
    ///   - appExtension: The extension.
    ///   - rehearsesCancellation: Whether to begin an export and cancel it at its first append,
    ///     which shows whether the extension passes the cancellation on. Nothing of it is kept.
    ///   - versionRehearsal: An import in a version that the extension can't know, which shows
    ///     whether it looks at the version. Nothing of it is kept.
    /// - Returns: The extension's description, its confinement, and its mistakes.
    /// - Throws: ``MigrationError`` of codes `confinementUnavailable`, `containerBusy`,
    ///   `containerInvalid`, `extensionCrashed`, `extensionFailed`, `extensionHung`,
    ///   `extensionUnsuitable`, `invalidOption` and `sessionFailed`; `CancellationError`.
    ///   With a rehearsal of a version, also the errors of an export and an import.
    @concurrent
    public func preflight(
        _ container: MigrationDataContainer,
        using appExtension: MigrationExtension,
        rehearsesCancellation: Bool = false,
        versionRehearsal: VersionRehearsal? = nil
    ) async throws -> PreflightReport {
        try await withOperationThread { cancellation in
            let preflight = Preflight(
                container: container,
                appExtension: appExtension,
                rehearsesCancellation: rehearsesCancellation,
                versionRehearsal: versionRehearsal,
                cancellation: cancellation,
                wait: wait(cancellation)
            )
            return try preflight.run()
        }
    }
}

/// One preflight: locks the container, asks the extension, and rehearses a cancellation on request.
private struct Preflight {
    let container: MigrationDataContainer
    let appExtension: MigrationExtension
    let rehearsesCancellation: Bool
    let versionRehearsal: VersionRehearsal?
    let cancellation: CancellationFlag
    let wait: LockWait

    func run() throws -> PreflightReport {
        var (report, wasStarted) = try ask()
        guard wasStarted, let versionRehearsal else { return report }
        let run = VersionRehearsalRun(
            rehearsal: versionRehearsal,
            container: container,
            appExtension: appExtension,
            cancellation: cancellation,
            wait: wait
        )
        try run.run(addingTo: &report)
        return report
    }

    /// Asks the extension, unless its entitlement is invalid.
    private func ask() throws -> (report: PreflightReport, wasStarted: Bool) {
        let lock = try wait.lockForReading(container)
        defer { lock.release() }
        try ContainerRecovery.checkBookkeeping(of: lock)
        let space = try lock.root.descriptor.availableSpace()
        do {
            _ = try Entitlement.check(appExtension, for: container)
        } catch let problem as EntitlementProblem {
            return (refused(problem, availableSpace: space), wasStarted: false)
        }
        let rehearsal = CancellationFlag(following: cancellation)
        let host = try AppExtensionHost.begin(
            .exporting,
            of: appExtension,
            in: container,
            appendPolicy: .answered,
            cancellation: rehearsal
        )
        defer { host.end() }
        var findings: [ExtensionFinding] = []
        if rehearsesCancellation, host.description.exports != nil {
            findings = try rehearse(with: host, rehearsal)
            try cancellation.check()
        }
        try host.session.end()
        return (host.preflight(availableSpace: space, findings: findings), wasStarted: true)
    }

    /// The report if the entitlement is invalid.
    private func refused(
        _ problem: EntitlementProblem,
        availableSpace: UInt64
    ) -> PreflightReport {
        PreflightReport(
            name: appExtension.name,
            entitlement: nil,
            groups: appExtension.groups(declared: problem.declaredGroups),
            exports: nil,
            imports: false,
            availableSpace: availableSpace,
            confinement: ConfinementReport(lackingBecause: "it was not started"),
            paths: .unchanged,
            warnings: [],
            findings: [problem.finding]
        )
    }

    /// Exports for an app on Android, and cancels at the first append.
    private func rehearse(
        with host: AppExtensionHost,
        _ rehearsal: CancellationFlag
    ) throws -> [ExtensionFinding] {
        let writer = try makeDiscardingWriter(for: host.container)
        defer { writer.abandon() }
        let archiver = ItemArchiver(
            writingTo: writer,
            outputIdentity: nil,
            on: MigrationOperation(cancellation: cancellation)
        )
        let intake = ItemIntake(
            to: archiver,
            from: try host.directories.sourceRoots(as: host.session.paths),
            observer: host.observer
        ) {
            rehearsal.cancel()
            throw CancellationError()
        }
        do {
            let call = ExportCall(platform: .android, options: [:])
            try host.session.export(call, to: intake)
            return [.nothingExported]
        } catch let error as MigrationError where error.code == .cancellationIgnored {
            return [.cancellationSwallowed(error.message)]
        } catch is CancellationError {
            return []
        }
    }

    /// Makes the writer of an archive that is discarded.
    private func makeDiscardingWriter(
        for container: MigrationDataContainer
    ) throws -> ArchiveWriter {
        try ArchiveWriter(
            writingTo: nil,
            header: ArchiveHeader(
                bundleIdentifier: container.exportedIdentifier,
                platform: container.platform.rawValue,
                resourcesVersion: "",
                sizeEstimate: 0,
                isCompressible: false,
                creator: MigrationHost.creator
            ),
            level: 1,
            on: MigrationOperation(cancellation: cancellation)
        )
    }
}

extension ExtensionFinding {
    /// The finding for an extension that ignored a cancellation.
    static func cancellationSwallowed(_ message: String) -> ExtensionFinding {
        ExtensionFinding(
            code: .cancellationSwallowed,
            message: message,
            fix: "rethrow the CancellationError of appendItem, and stop soon after it"
        )
    }
}
