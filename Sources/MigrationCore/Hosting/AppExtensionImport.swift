internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// The import of an archive's files by an app's own extension.
struct AppExtensionImport {
    let host: AppExtensionHost
    let call: ImportCall

    /// Has the extension import, and reports on the session.
    ///
    /// Afterwards `unreadFiles` searches the import directory.
    func run(
        progress: Progress?,
        cancellation: CancellationFlag,
        unreadFiles: () throws -> UnreadFiles?
    ) throws -> ExtensionReport {
        try host.checkImports()
        let groups = try snapshots(cancellation)
        let reported = progress.map { ReportedProgress(in: $0) }
        let summary = try host.session.importResources(call) { [observer = host.observer] in
            let (completed, total) = $0.units
            observer.noteProgress(completed, of: total)
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
        try host.directories.groups.mapValues { try GroupSnapshot(of: $0, cancellation) }
    }
}

// MARK: - Unread files and groups

/// Files that were never read: their access time is still the modification time, as extracted.
struct UnreadFiles: SourceVisitor {
    /// The first paths, printable.
    private(set) var paths: [String] = []

    /// How many files there are.
    private(set) var count = 0

    /// Searches the import directory, which is open as `directory` and was at `path`.
    ///
    /// The result is `nil` if it can't be known: the file system does not record accesses, or the
    /// extension removed or moved the directory.
    init?(in directory: OpenFile, at path: BytePath, _ cancellation: CancellationFlag) throws {
        guard try Self.isStill(directory, at: path), try directory.descriptor.recordsAccess() else {
            return nil
        }
        let root = try directory.descriptor.duplicate()
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
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
        count += 1
        if paths.count < 3 { paths.append(PrintableText.escaping(item.path)) }
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
        _ cancellation: CancellationFlag
    ) throws {
        self.limit = limit
        let root = try FileDescriptor.open(group, .directory)
        var walker = SourceWalker(root: root, cancellation: cancellation)
        try walker.walk(&self)
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
