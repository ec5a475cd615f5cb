internal import MigrationArchive
internal import MigrationSystem

/// The rows of one container that can be archived, in tree order, and the rows that are lost.
struct ContainerPlan {
    let order: ContainerOrder
    private(set) var report: ContainerReport
    /// The file numbers that several rows have, and a few others.
    let sharedInodes: RepeatedNumbers
    /// The targets of links into the app's own container that are in the backup.
    private let ownTargets: Set<[UInt8]>

    /// Reads the rows of `domain`, and checks the stored file of each.
    ///
    /// - Throws: ``ArchiveError`` of code `notFound` if the backup has no such container.
    init(
        of domain: Domain,
        in backup: IPhoneBackup,
        on operation: MigrationOperation
    ) throws {
        let version = domain.kind == .app ? backup.version(of: domain.identifier) : nil
        let report = ContainerReport(domain: domain, version: version, warnings: backup.warnings)
        var rows = ContainerRows(backup, report: report)
        let bytes = domain.bytes
        try backup.manifest.forEachRow { row in
            try operation.check()
            if row.isOf(bytes) { rows.take(row) }
        }
        guard rows.count > 0 else {
            let name = PrintableText.escaping(domain.identifier)
            let message = "the backup holds no container of '\(name)'"
            throw ArchiveError(.notFound, message)
        }
        order = ContainerOrder(
            of: bytes,
            in: backup.manifest,
            skipping: rows.skipped,
            first: rows.finishFirst()
        )
        sharedInodes = rows.sharedInodes
        var ownTargets: Set<[UInt8]> = []
        try order.forEach(lost: { rows.report.lost.append($0) }) { item in
            try operation.check()
            switch item.flags {
            case FileRecord.Kind.file.flags: rows.report.totals.files += 1
            case FileRecord.Kind.directory.flags: rows.report.totals.directories += 1
            default: rows.report.totals.symbolicLinks += 1
            }
            if rows.ownTargets.contains(item.path.bytes) { ownTargets.insert(item.path.bytes) }
        }
        self.ownTargets = ownTargets
        self.report = rows.report
    }

    /// Reports the number of files that may be hard links but were archived with their content.
    mutating func noteUncompared(_ count: Int) {
        guard count > 0 else { return }
        report.warnings.append(
            "\(count) files that may be hard links were archived with their content, uncompared"
        )
    }

    /// Adds the contents of the archive to the report.
    mutating func finish(_ summary: ArchiveWriter.Summary) {
        report.totals = summary.totals
        report.summary = summary
    }

    /// The target of a link, made relative to the link, if it is in this container.
    ///
    /// On the phone, a container is in a directory named by a UUID. Apps with a web view have such
    /// a link, which is dangling on any other device.
    mutating func relink(_ path: EntryPath, to target: [UInt8]) -> [UInt8] {
        guard let rest = report.domain.ownPath(target), rest.isEmpty || ownTargets.contains(rest)
        else { return target }
        let depth = path.bytes.count { $0 == UInt8(ascii: "/") }
        var relative = [UInt8](String(repeating: "../", count: depth).utf8) + rest
        if relative.last == UInt8(ascii: "/") { relative.removeLast() }
        if relative.isEmpty { relative = [UInt8(ascii: ".")] }
        // In thousands of nested directories, a relative link would be longer than the system
        // allows.
        guard relative.count <= Self.targetLimit else { return target }
        report.relinked.append(path, "now leads to \(PrintableText.escaping(relative))")
        return relative
    }

    private static let targetLimit = 4_095
}

/// The rows of a container as they are read, in the order of the manifest.
private struct ContainerRows {
    /// The limit for the bytes of targets that are looked for.
    private static let targetsLimit = 1 << 20

    private let backup: IPhoneBackup
    var report: ContainerReport
    private(set) var count = 0
    private var first = ContainerOrder.Part()
    private(set) var skipped: [Int64] = []
    private(set) var sharedInodes = RepeatedNumbers()
    private(set) var ownTargets: Set<[UInt8]> = []
    private var targetBytes = 0

    init(_ backup: IPhoneBackup, report: ContainerReport) {
        (self.backup, self.report) = (backup, report)
    }

    mutating func take(_ row: Manifest.Row) {
        count += 1
        let path = EntryPath(bytes: row.path)
        do throws(FlawedRecord) {
            if try isTaken(row.record(), at: path) {
                return first.add(path.bytes, number: row.number, flags: row.flags)
            }
        } catch {
            report.lost.append(path, error.reason)
        }
        skipped.append(row.number)
    }

    /// The first part of the order, which the caller takes over.
    mutating func finishFirst() -> ContainerOrder.Part {
        first.finish()
        defer { first = ContainerOrder.Part() }
        return first
    }

    /// Checks a row; `false` if it is left out.
    private mutating func isTaken(
        _ record: FileRecord,
        at path: EntryPath
    ) throws(FlawedRecord) -> Bool {
        // The container itself.
        if record.path.isEmpty, record.kind == .directory { return false }
        if let violation = path.violation { throw FlawedRecord(violation) }
        switch record.kind {
        case .directory: return true
        case .link(let target):
            try takeLink(record, at: path, to: target)
            return true
        case .file:
            if path.bytes.suffix(4).elementsEqual("-shm".utf8) {
                report.omitted.append(path, "SQLite makes it anew from the database and its -wal")
                return false
            }
            let content = try backup.content(of: record, in: report.domain)
            if record.key == nil, Int64(clamping: content.size) != record.size {
                report.resized.append(path, "\(content.size) bytes, the backup says \(record.size)")
            }
            report.totals.contentBytes.addSaturating(content.size)
            if record.inode != 0 { sharedInodes.insert(record.inode) }
            return true
        }
    }

    private mutating func takeLink(
        _ record: FileRecord,
        at path: EntryPath,
        to target: [UInt8]
    ) throws(FlawedRecord) {
        let link = ArchiveEntry(
            path: path,
            kind: .symbolicLink(target: target),
            permissions: record.permissions,
            modificationTime: FileTime(seconds: record.time)
        )
        if let violation = link.violation { throw FlawedRecord(violation) }
        guard let own = report.domain.ownPath(target), !own.isEmpty,
            targetBytes < Self.targetsLimit
        else { return }
        targetBytes += own.count + MemoryLayout<[UInt8]>.stride
        ownTargets.insert(own)
    }
}

extension Domain {
    /// The path in the container that an absolute path on the phone names.
    fileprivate func ownPath(_ target: [UInt8]) -> [UInt8]? {
        var rest = target[...]
        let privateRoot = [UInt8]("/private/".utf8)
        if rest.starts(with: privateRoot) { rest = rest.dropFirst(privateRoot.count - 1) }
        let directory = [UInt8](kind.directory.utf8)
        guard rest.starts(with: directory) else { return nil }
        rest = rest.dropFirst(directory.count)
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard rest[..<end].count == 36 else { return nil }
        var path = rest[end...]
        while path.first == UInt8(ascii: "/") { path = path.dropFirst() }
        while path.last == UInt8(ascii: "/") { path = path.dropLast() }
        return [UInt8](path)
    }
}
