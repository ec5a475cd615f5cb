internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// An extension as an export uses it: the app's own, or the one for apps that have none.
protocol ExportingExtension {
    /// The container to export.
    var container: MigrationDataContainer { get }

    /// Describes the export before anything is archived; `availableSpace` bytes are free.
    func properties(availableSpace: UInt64?) throws -> ExportProperties

    /// Appends everything to export.
    func exportResources(to archiver: ItemArchiver) throws

    /// Finds everything that was not appended to `archiver`; `nil` for a whole container.
    func leftBehind(by archiver: ItemArchiver) throws -> LeftBehind?

    /// Reports on the session after the export; `nil` for a whole container.
    func report(of totals: ArchiveTotals) -> ExtensionReport?

    /// Cleans up after the export, whether it failed or not.
    func end()
}

/// An extension's description of its export.
struct ExportProperties: Sendable {
    /// The estimate of the content's bytes.
    let sizeEstimate: UInt64

    /// The bytes that the content takes on its disk, if known.
    let allocatedBytes: UInt64?

    /// The version of the data's format.
    let resourcesVersion: String

    /// Whether the content is worth compressing.
    let isCompressible: Bool

    /// What the person was doing; `nil` if the extension doesn't say.
    var activity: ResumeActivity?
}

/// The export that an app's own extension makes.
struct AppExtensionExport: ExportingExtension {
    let host: AppExtensionHost
    let call: ExportCall

    /// The most bytes of a version: an archive's header has 64 KiB, and may use six bytes for each.
    private static let versionLimit = 8 << 10

    var container: MigrationDataContainer { host.container }

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
            allocatedBytes: nil,
            resourcesVersion: exports.resourcesVersion,
            isCompressible: exports.isCompressible,
            activity: try exports.activity.map { try ResumeActivity(encoded: $0) }
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        let roots = try host.directories.sourceRoots(as: host.session.paths)
        let intake = ItemIntake(to: archiver, from: roots, observer: host.observer)
        archiver.entries.activityHandler = { [observer = host.observer, session = host.session] in
            observer.noteActivity()
            session.checkBounds()
        }
        do {
            try host.session.export(call, to: intake)
            try intake.finish()
        } catch {
            throw intake.failure ?? error
        }
        // The extension may have swallowed the error.
        if let failure = intake.failure { throw failure }
        try host.session.end()
    }

    func leftBehind(by archiver: ItemArchiver) throws -> LeftBehind? {
        var left = LeftBehind()
        guard let archived = archiver.entries.files else { return nil }
        let places =
            [(group: String?.none, path: host.directories.container.rootPath)]
            + host.directories.groups.sorted { $0.key < $1.key }
            .map { (group: $0.key, path: $0.value) }
        for (group, path) in places {
            let root = try FileDescriptor.open(path, .directory)
            try left.search(
                root,
                of: group,
                omitting: archived,
                cancellation: archiver.operation.cancellation
            )
        }
        return left
    }

    func report(of totals: ArchiveTotals) -> ExtensionReport? {
        let findings = ExportFindings(host, call: call)
        return host.report(findings.all(of: totals))
    }

    func end() {
        host.end()
    }
}
