internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

extension MigrationExtension: ContainerExporter {
    package func beginExport(
        of container: MigrationDataContainer,
        options: ExportOptions,
        on operation: MigrationOperation
    ) throws -> any ContainerExport {
        AppExtensionExport(
            host: try AppExtensionHost.begin(
                .exporting,
                of: self,
                in: container,
                on: operation
            ),
            call: ExportCall(
                platform: options.destinationPlatform,
                options: options.destinationOptions
            ),
            expectsComplete: options.expectsComplete
        )
    }
}

/// The report of a session in which an extension exported.
private struct ExportSessionReport: Sendable {
    let leftBehind: LeftBehind?
    let appExtension: ExtensionReport
}

extension ExportReport {
    private var session: ExportSessionReport? { sessionReport as? ExportSessionReport }

    /// Data in the container and the app groups that the app's extension did not append; `nil` if
    /// the whole container was exported.
    public var leftBehind: LeftBehind? { session?.leftBehind }

    /// The report of the session with the app's extension; `nil` if the whole container was
    /// exported.
    public var appExtension: ExtensionReport? { session?.appExtension }
}

/// The export that an app's own extension makes.
private final class AppExtensionExport: ContainerExport {
    private let host: AppExtensionHost
    private let call: ExportCall
    private let expectsComplete: Bool
    private var leftBehind: LeftBehind?

    /// The longest version: an archive's header has 64 KiB, and may use six bytes for each byte.
    private static let versionLimit = 8 << 10

    init(host: AppExtensionHost, call: ExportCall, expectsComplete: Bool) {
        self.host = host
        self.call = call
        self.expectsComplete = expectsComplete
    }

    var container: MigrationDataContainer { host.container }

    var omissions: [Omission] { host.appExtension.groupOmissions }

    func properties(availableSpace: UInt64?) throws -> ExportProperties {
        let exports = try host.exports()
        let versionSize = exports.resourcesVersion.utf8.count
        guard versionSize <= Self.versionLimit else {
            let message =
                "\(host.description.name) has a resourcesVersion of \(versionSize) bytes; at "
                + "most \(Self.versionLimit) can be archived"
            throw MigrationError(.extensionUnsuitable, message)
        }
        for option in call.options.keys.sorted() where !exports.options.contains(option) {
            let known = exports.options.joined(separator: ", ")
            let message =
                "\(host.description.name) has no option '\(PrintableText.escaping(option))'; "
                + (known.isEmpty ? "it has none" : "it has: \(known)")
            throw MigrationError(.extensionUnsuitable, message)
        }
        host.appExtension.preflightHandler?(host.preflight(availableSpace: availableSpace))
        return ExportProperties(
            sizeEstimate: UInt64(max(0, exports.sizeEstimate)),
            resourcesVersion: exports.resourcesVersion,
            isCompressible: exports.isCompressible,
            activity: try exports.activity.map { try ResumeActivity(encoded: $0) }
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        let roots = try host.directories.sourceRoots(as: host.session.paths)
        let items = AppendedItemArchiver(to: archiver, from: roots, observer: host.observer)
        archiver.notifyOfActivity { [observer = host.observer, session = host.session] in
            observer.noteActivity()
            session.checkBounds()
        }
        do {
            try host.session.export(call, to: items)
            try items.finish()
        } catch {
            throw items.failure ?? error
        }
        // The extension may have swallowed the error.
        if let failure = items.failure { throw failure }
        try host.session.end()
        let leftBehind = try findLeftBehind(by: archiver)
        self.leftBehind = leftBehind
        if expectsComplete, let failure = leftBehind.failure { throw failure }
    }

    private func findLeftBehind(by archiver: ItemArchiver) throws -> LeftBehind {
        var left = LeftBehind()
        let places =
            [(group: String?.none, path: host.directories.container.rootPath)]
            + host.directories.groups.sorted { $0.key < $1.key }
            .map { (group: $0.key, path: $0.value) }
        for (group, path) in places {
            let root = OpenFile(try FileDescriptor.open(path, .directory))
            try left.search(root, of: group, omitting: archiver, on: archiver.operation)
        }
        return left
    }

    func report(on totals: ArchiveTotals) -> (any Sendable)? {
        let findings = ExportFindings(host, call: call)
        return ExportSessionReport(
            leftBehind: leftBehind,
            appExtension: host.report(findings.all(of: totals))
        )
    }

    func end() {
        host.end()
    }
}
