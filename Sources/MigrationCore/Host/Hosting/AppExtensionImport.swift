internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The import that an app's own extension makes, of what an archive held.
struct AppExtensionImport {
    let host: AppExtensionHost
    let call: ImportCall

    /// Has the extension import, and returns what the session showed.
    ///
    /// Afterwards `unreadFiles` looks at what is left in the import directory.
    func run(
        progress: Progress?,
        cancellation: CancellationFlag,
        unreadFiles: () throws -> UnreadFiles?
    ) throws -> ExtensionReport {
        try host.checkImports()
        let groups = try snapshots(cancellation)
        let reported = progress.map { ReportedProgress(in: $0) }
        let summary = try host.session.importResources(call) { completed, total in
            reported?.show(completed, of: total)
        }
        try host.session.end()
        let uncleared = try snapshots(cancellation).filter { identifier, now in
            groups[identifier].map { now.wasWrittenNotCleared(since: $0) } ?? false
        }
        let findings = ImportFindings(
            progress: summary,
            unread: try unreadFiles(),
            unclearedGroups: uncleared.keys.sorted()
        )
        return host.report(findings.all)
    }

    private func snapshots(_ cancellation: CancellationFlag) throws -> [String: GroupSnapshot] {
        try host.place.groups.mapValues { try GroupSnapshot(of: $0, cancellation) }
    }
}

extension ImportCall {
    /// Says where the data comes from, by what the archive says and what the person adds to it.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` where neither says it.
    init(
        directory: ByteString,
        header: ArchiveHeader?,
        source: ImportSource
    ) throws(MigrationError) {
        guard let identifier = source.bundleIdentifier ?? header?.bundleIdentifier,
            let platform = source.platform ?? header.map({ MigrationPlatform($0.platform) }),
            let version = source.version ?? header?.resourcesVersion
        else {
            let message =
                "the archive does not say which app, platform and version it is from, which the "
                + "extension must be told"
            throw MigrationError(.invalidOption, message)
        }
        self.init(
            directory: Data(directory),
            source: MigrationAppIdentifier(
                storeIdentifier: source.store ?? platform.defaultStore,
                bundleIdentifier: identifier,
                platform: platform
            ),
            sourceVersion: version
        )
    }
}

extension MigrationPlatform {
    /// The store that an app of the platform mostly comes from.
    var defaultStore: MigrationAppIdentifier.StoreIdentifier {
        switch self {
        case .android: .googlePlay
        case .iOS: .appStore
        default: MigrationAppIdentifier.StoreIdentifier("unknown")
        }
    }
}
