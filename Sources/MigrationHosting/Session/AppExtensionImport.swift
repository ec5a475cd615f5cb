internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

extension MigrationExtension: ContainerImporter {
    package var omissions: [Omission] { groupOmissions }

    package func check(_ container: MigrationDataContainer) throws {
        _ = try identifier(for: container)
        _ = try groupDirectories(apartFrom: container.rootPath)
    }

    package func check(_ header: ArchiveHeader?, from source: ImportSource) throws {
        _ = try ImportCall(directory: "", header: header, source: source)
    }

    package func identifier(for container: MigrationDataContainer) throws -> String? {
        do {
            return try Entitlement.check(self, for: container)?.identifier
        } catch let problem as EntitlementProblem {
            throw problem.error
        }
    }

    package func ask(in staged: StagedImport) throws {
        let directory = try ImportDirectory(in: staged.staging, for: staged.root)
        try directory.handOver()
        let host = try beginSession(staged, in: directory)
        defer { host.end() }
        try host.checkImports()
        let space = try staged.staging.directory.descriptor.availableSpace()
        preflightHandler?(host.preflight(availableSpace: space))
        try host.session.end()
    }

    package func fill<Extracted>(
        _ staged: StagedImport,
        from header: ArchiveHeader?,
        of source: ImportSource,
        extracting extract: (OpenFile) throws -> Extracted
    ) throws -> (Extracted, any Sendable) {
        let directory = try ImportDirectory(in: staged.staging, for: staged.root)
        let extracted = try extract(directory.directory)
        try directory.handOver()
        let host = try beginSession(staged, in: directory)
        defer { host.end() }
        let call = try ImportCall(directory: directory.path, header: header, source: source)
        let report = try AppExtensionImport(host: host, call: call).run(on: staged.operation) {
            try UnreadFiles(in: directory.directory, at: directory.path, on: staged.operation)
        }
        try directory.remove()
        if isInProcess { try directory.handOverContents(on: staged.operation) }
        return (extracted, report)
    }

    private func beginSession(
        _ staged: StagedImport,
        in directory: ImportDirectory
    ) throws -> AppExtensionHost {
        try AppExtensionHost.begin(
            .importing,
            of: self,
            in: MigrationDataContainer(
                root: directory.containerPath,
                knownIdentifier: staged.container.knownIdentifier
            ),
            for: staged.container,
            from: (directory.path, holder: directory.holder),
            on: staged.operation
        )
    }
}

extension ImportReport {
    /// The report of the session with the app's extension; `nil` if the whole container was
    /// imported.
    public var appExtension: ExtensionReport? { sessionReport as? ExtensionReport }
}

extension ImportCall {
    /// Names the source of the data, from the options or else from the archive.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` if neither names it.
    init(
        directory: BytePath,
        header: ArchiveHeader?,
        source: ImportSource
    ) throws(MigrationError) {
        guard let identifier = source.bundleIdentifier ?? header?.bundleIdentifier,
            let platform = source.platform ?? header.map({ MigrationPlatform($0.platform) }),
            let version = source.version ?? header?.resourcesVersion
        else {
            let message =
                "the archive does not name the app, platform and version of its data, and the "
                + "extension needs them"
            throw MigrationError(.invalidOption, message)
        }
        self.init(
            directory: Data(directory.bytes),
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
    /// The usual store of the platform.
    var defaultStore: MigrationAppIdentifier.StoreIdentifier {
        switch self {
        case .android: .googlePlay
        case .iOS: .appStore
        default: MigrationAppIdentifier.StoreIdentifier("unknown")
        }
    }
}

/// The import of an archive's files by an app's own extension.
struct AppExtensionImport {
    let host: AppExtensionHost
    let call: ImportCall

    /// Has the extension import, and reports on the session.
    ///
    /// Afterwards `unreadFiles` searches the import directory.
    func run(
        on operation: MigrationOperation,
        unreadFiles: () throws -> UnreadFiles?
    ) throws -> ExtensionReport {
        try host.checkImports()
        let groups = try snapshots(on: operation)
        let reported = operation.progress.map { ReportedProgress(in: $0) }
        let summary = try host.session.importResources(call) { [observer = host.observer] in
            let (completed, total) = $0.units
            observer.noteProgress(completed, of: total)
            reported?.show(completed, of: total)
        }
        try host.session.end()
        let uncleared = try snapshots(on: operation).filter { identifier, now in
            groups[identifier].map { now.wasWrittenNotCleared(since: $0) } ?? false
        }
        let findings = ImportFindings(
            progress: summary,
            unread: try unreadFiles(),
            unclearedGroups: uncleared.keys.sorted()
        )
        return host.report(findings.all)
    }

    private func snapshots(on operation: MigrationOperation) throws -> [String: GroupSnapshot] {
        try host.directories.groups.mapValues { try GroupSnapshot(of: $0, on: operation) }
    }
}

// MARK: - Unread files and groups

/// Files that were never read: their access time is still the modification time, as extracted.
struct UnreadFiles: SourceVisitor {
    private(set) var files = Examples()

    /// Searches the import directory, which is open as `directory` and was at `path`.
    ///
    /// The result is `nil` if that is unknown: the file system does not record accesses, or the
    /// extension removed or moved the directory.
    init?(in directory: OpenFile, at path: BytePath, on operation: MigrationOperation) throws {
        guard try Self.isStill(directory, at: path), try directory.descriptor.recordsAccess() else {
            return nil
        }
        try SourceWalker.walk(directory, on: operation, visiting: &self)
    }

    private static func isStill(
        _ directory: OpenFile,
        at path: BytePath
    ) throws(SystemError) -> Bool {
        let identity = try directory.descriptor.status().identity
        do {
            return try FileDescriptor.status(atPath: path).identity == identity
        } catch {
            guard error.isMissing || error.isNotDirectory else { throw error }
            return false
        }
    }

    mutating func visit(_ item: SourceItem) {
        let status = item.status
        guard status.kind == .regular, status.linkCount == 1, status.size > 0,
            status.accessTime == status.modificationTime
        else { return }
        files.add(PrintableText.escaping(item.path))
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    func passesOver(_ item: SourceItem) -> Bool { true }
}

/// The files of an app group at one time, to find out whether an import cleared the group first.
struct GroupSnapshot: SourceVisitor {
    private let limit: Int
    private var files: [FileStatus.Identity: FileTime] = [:]

    /// Whether there are more than `limit` files, so that the first ones may differ next time.
    private var isCut = false

    /// Reads the directory of a group.
    init(
        of group: BytePath,
        limit: Int = 100_000,
        on operation: MigrationOperation
    ) throws {
        self.limit = limit
        let root = OpenFile(try FileDescriptor.open(group, .directory))
        try SourceWalker.walk(root, on: operation, visiting: &self)
    }

    mutating func visit(_ item: SourceItem) {
        isCut = isCut || files.count == limit
        guard !isCut else { return }
        files[item.status.identity] = item.status.changeTime
    }

    func enter(_ item: SourceItem, opened: OpenFile) -> Bool { true }

    func passesOver(_ item: SourceItem) -> Bool { true }

    /// Whether files were written since `earlier` while older ones stayed.
    ///
    /// The result is `false` for a group with too many files.
    func wasWrittenNotCleared(since earlier: GroupSnapshot) -> Bool {
        guard !isCut, !earlier.isCut else { return false }
        let wasWritten = files.contains { earlier.files[$0.key] != $0.value }
        let hasStayed = earlier.files.contains { files[$0.key] == $0.value }
        return wasWritten && hasStayed
    }
}
