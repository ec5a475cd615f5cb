internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The export that an app's own extension makes.
struct AppExtensionExport: ExportingExtension {
    let host: AppExtensionHost
    let call: ExportCall

    /// The most bytes of a version: an archive's description has 64 KiB, and may take six for each.
    private static let versionLimit = 8 << 10

    var container: MigrationDataContainer { host.container }

    func properties(availableSpace: UInt64?) throws -> ExportProperties {
        let exports = try host.exports()
        let versionSize = exports.resourcesVersion.utf8.count
        guard versionSize <= Self.versionLimit else {
            let message =
                "\(host.description.name) gives a resourcesVersion of \(versionSize) bytes; at "
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
            isCompressible: exports.isCompressible
        )
    }

    func exportResources(to archiver: ItemArchiver) throws {
        let roots = try host.place.sourceRoots(as: host.session.paths)
        let intake = ItemIntake(to: archiver, from: roots, observer: host.observer)
        archiver.entries.activityHandler = { [observer = host.observer, session = host.session] in
            observer.noteActivity()
            session.checkBounds()
        }
        do {
            try host.session.export(call, to: intake)
        } catch {
            throw intake.failure ?? error
        }
        // An extension may have caught it.
        if let failure = intake.failure { throw failure }
        try host.session.end()
    }

    func leftBehind(by archiver: ItemArchiver) throws -> LeftBehind? {
        var left = LeftBehind()
        guard let archived = archiver.entries.files else { return nil }
        let places =
            [(group: String?.none, path: host.place.container.rootPath)]
            + host.place.groups.sorted { $0.key < $1.key }.map { (group: $0.key, path: $0.value) }
        for (group, path) in places {
            let root = try FileDescriptor.open(path.path, .directory)
            try left.search(root, of: group, leavingOut: archived, archiver.cancellation)
        }
        return left
    }

    func report(of totals: ArchiveTotals) -> ExtensionReport? {
        let findings = ExportFindings(host, call)
        return host.report(findings.all(of: totals))
    }

    func end() {
        host.end()
    }
}
