internal import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// Takes one container out of a backup into an archive.
package struct ContainerConversion {
    /// The options of a conversion.
    package struct Options: Sendable {
        /// Whether to archive the rest if files are missing or damaged.
        package var keepsGoing = false
        /// The version of the data's format; by default the app's version.
        package var resourcesVersion: String?
        /// The archive of a conversion is usually read once, so it need not be as small as possible.
        package var compressionLevel = 1
        package var threadCount: Int?

        package init() {}
    }

    private let backup: IPhoneBackup
    private let options: Options
    private let operation: MigrationOperation
    private var plan: ContainerPlan

    /// Checks every row of the container, and the stored file of each.
    ///
    /// - Throws: ``ArchiveError`` of code `notFound` if the backup has no such container; of codes
    ///   `damaged`, `sourceChanged` and `sourceUnreadable`; `CancellationError`.
    package init(
        of domain: Domain,
        in backup: IPhoneBackup,
        options: Options,
        on operation: MigrationOperation
    ) throws {
        (self.backup, self.options, self.operation) = (backup, options, operation)
        plan = try ContainerPlan(of: domain, in: backup, on: operation)
    }

    /// The report, with what the archive will hold and what is missing.
    package var report: ContainerReport { plan.report }

    /// Whether an archive may be written: nothing is lost, or losses are accepted.
    package var isPossible: Bool { plan.report.lost.count == 0 || options.keepsGoing }

    /// Writes the archive, which gets its name once it is complete.
    package mutating func write(to destination: ArchiveDestination) throws -> ContainerReport {
        let header = header
        try ArchiveFile.write(
            to: destination,
            sizeEstimate: header.sizeEstimate,
            on: operation
        ) { file in
            let writer = try ArchiveWriter(
                writingTo: file.output,
                header: header,
                level: options.compressionLevel,
                checksOrder: true,
                on: operation
            )
            defer { writer.abandon() }
            try append(to: writer)
            plan.finish(try writer.finish())
        }
        return plan.report
    }

    private var header: ArchiveHeader {
        ArchiveHeader(
            bundleIdentifier: plan.report.domain.identifier,
            platform: MigrationPlatform.iOS.rawValue,
            resourcesVersion: options.resourcesVersion ?? plan.report.version ?? "",
            sizeEstimate: plan.report.totals.contentBytes,
            isCompressible: true,
            creator: MigrationHost.creator
        )
    }

    // MARK: - Entries

    private mutating func append(to writer: ArchiveWriter) throws {
        let find = try backup.manifest.makeFinder()
        var directories: [EntryPath] = []
        var earlier = EarlierNames()
        try plan.order.forEach { item in
            try operation.check()
            do {
                let record = try find(item.number)
                try appendParents(of: item.path, below: &directories, to: writer)
                switch record.kind {
                case .directory:
                    try writer.append(entry(of: record, at: item.path, .directory))
                    directories.append(item.path)
                case .link(let target):
                    let own = plan.relink(item.path, to: target)
                    try writer.append(entry(of: record, at: item.path, .symbolicLink(target: own)))
                case .file:
                    if let first = try firstName(of: item, record, in: &earlier, find) {
                        let link = ArchiveEntry.Kind.hardLink(target: first)
                        try writer.append(entry(of: record, at: item.path, link))
                    } else {
                        try append(record, at: item.path, to: writer)
                    }
                }
            } catch let error as FlawedRecord {
                throw ArchiveError(.sourceChanged, error.reason, entry: item.path)
            }
        }
        plan.noteUncompared(earlier.uncompared)
    }

    /// Appends the directories above `path` that don't have their own row.
    private func appendParents(
        of path: EntryPath,
        below directories: inout [EntryPath],
        to writer: ArchiveWriter
    ) throws {
        while let last = directories.last, !path.isEqual(toOrBelow: last) {
            directories.removeLast()
        }
        var missing: [EntryPath] = []
        var parent = path.parent
        while let directory = parent, directory != directories.last {
            missing.append(directory)
            parent = directory.parent
        }
        for directory in missing.reversed() {
            try writer.append(
                ArchiveEntry(
                    path: directory,
                    kind: .directory,
                    permissions: 0o755,
                    modificationTime: FileTime(seconds: 0)
                )
            )
            directories.append(directory)
        }
    }

    private func append(
        _ record: FileRecord,
        at path: EntryPath,
        to writer: ArchiveWriter
    ) throws {
        let content = try backup.content(of: record, in: plan.report.domain)
        try writer.append(entry(of: record, at: path, .file(size: content.size))) { count in
            try content.next(count)
        }
        try content.finish()
    }

    private func entry(
        of record: FileRecord,
        at path: EntryPath,
        _ kind: ArchiveEntry.Kind
    ) -> ArchiveEntry {
        let hasAttributes =
            switch kind {
            case .file, .directory: true
            case .symbolicLink, .hardLink: false
            }
        return ArchiveEntry(
            path: path,
            kind: kind,
            permissions: record.permissions,
            modificationTime: FileTime(seconds: record.time),
            extendedAttributes: hasAttributes ? record.attributes : []
        )
    }

    // MARK: - Hard links

    /// The earlier name of a file; `nil` if there is none, or if the content differs.
    ///
    /// The inode number in a row is only a hint: a device may reuse it between two backups.
    private func firstName(
        of item: ContainerOrder.Item,
        _ record: FileRecord,
        in earlier: inout EarlierNames,
        _ find: (Int64) throws -> FileRecord
    ) throws -> EntryPath? {
        guard record.inode != 0, plan.sharedInodes.contains(record.inode) else { return nil }
        let domain = plan.report.domain
        for number in earlier.rows(of: record.inode) {
            let other = try find(number)
            guard other.permissions == record.permissions, other.time == record.time,
                other.attributes == record.attributes
            else { continue }
            let left = try backup.content(of: other, in: domain)
            let right = try backup.content(of: record, in: domain)
            if try Self.areEqual(left, right) { return EntryPath(bytes: other.path) }
        }
        earlier.add(item.number, of: record.inode)
        return nil
    }

    /// The rows of files that may be other names of a file, up to a limit.
    private struct EarlierNames {
        /// The maximum number of contents with one inode number that are compared.
        private static let limit = 8
        /// Later files are archived with their content, not as links.
        private static let totalLimit = 50_000

        private var numbers: [UInt64: [Int64]] = [:]
        private var total = 0
        /// How many files are beyond the limits.
        private(set) var uncompared = 0

        func rows(of inode: UInt64) -> [Int64] { numbers[inode] ?? [] }

        mutating func add(_ number: Int64, of inode: UInt64) {
            guard rows(of: inode).count < Self.limit, total < Self.totalLimit else {
                uncompared += 1
                return
            }
            total += 1
            numbers[inode, default: []].append(number)
        }
    }

    private static func areEqual(
        _ left: StoredFile,
        _ right: StoredFile
    ) throws(FlawedRecord) -> Bool {
        guard left.size == right.size else { return false }
        while true {
            let (bytes, others) = (try left.next(64 << 10), try right.next(64 << 10))
            if bytes != others { return false }
            if bytes.isEmpty { return true }
        }
    }
}
