internal import Foundation
internal import MigrationArchive
internal import MigrationContainers
internal import MigrationCore
internal import MigrationSystem

/// One preflight: locks the container, asks the extension, and rehearses a cancellation on request.
struct Preflight {
    let container: MigrationDataContainer
    let appExtension: MigrationExtension
    let rehearsesCancellation: Bool
    let versionRehearsal: VersionRehearsal?
    let operation: MigrationOperation
    let migrationHost: MigrationHost

    func run() throws -> PreflightReport {
        var (report, wasStarted) = try ask()
        guard wasStarted, let versionRehearsal else { return report }
        let run = VersionRehearsalRun(
            rehearsal: versionRehearsal,
            container: container,
            appExtension: appExtension,
            operation: operation,
            host: migrationHost
        )
        try run.run(addingTo: &report)
        return report
    }

    /// Asks the extension, unless its entitlement is invalid.
    private func ask() throws -> (report: PreflightReport, wasStarted: Bool) {
        let lock = try migrationHost.wait(on: operation).lockForReading(container)
        defer { lock.release() }
        try ContainerRecovery.checkBookkeeping(of: lock)
        let space = try lock.root.descriptor.availableSpace()
        do {
            _ = try Entitlement.check(appExtension, for: container)
        } catch let problem as EntitlementProblem {
            return (refused(problem, availableSpace: space), wasStarted: false)
        }
        let rehearsal = CancellationFlag(following: operation.cancellation)
        let host = try AppExtensionHost.begin(
            .exporting,
            of: appExtension,
            in: container,
            appendPolicy: .answered,
            on: MigrationOperation(cancellation: rehearsal)
        )
        defer { host.end() }
        var findings: [ExtensionFinding] = []
        if rehearsesCancellation, host.description.exports != nil {
            findings = try rehearse(with: host, rehearsal)
            try operation.check()
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
            on: operation
        )
        let items = AppendedItemArchiver(
            to: archiver,
            from: try host.directories.sourceRoots(as: host.session.paths),
            observer: host.observer
        ) {
            rehearsal.cancel()
            throw CancellationError()
        }
        do {
            let call = ExportCall(platform: .android, options: [:])
            try host.session.export(call, to: items)
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
            on: operation
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
