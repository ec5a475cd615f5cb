internal import MigrationArchive
internal import MigrationSystem

/// The rows of one container that can be archived, in tree order, without what they say.
struct ContainerPlan {
    /// A row, of which only the place is kept: a container can have a million.
    struct Item {
        let path: EntryPath
        let number: Int64
        let kind: Kind
        let inode: UInt64
    }

    enum Kind {
        case file, directory, link
    }

    private(set) var items: [Item] = []
    private(set) var report: ContainerReport
    /// The numbers of files that several rows have.
    private(set) var sharedInodes: Set<UInt64> = []
    private var hasRoot = false

    /// Reads the rows of `domain`, and looks at what is stored for each file.
    ///
    /// - Throws: ``ArchiveError`` of code `notFound` if the backup has no such container.
    init(
        of domain: Domain,
        in backup: IPhoneBackup,
        cancellation: CancellationFlag
    ) throws {
        let version = domain.kind == .app ? backup.version(of: domain.identifier) : nil
        report = ContainerReport(domain: domain, version: version, warnings: backup.warnings)
        let bytes = domain.bytes
        try backup.manifest.forEachRow { row in
            try cancellation.check()
            guard row.domain == bytes else { return }
            take(row, of: domain, in: backup)
        }
        guard hasRoot || !items.isEmpty || report.lost.count > 0 else {
            let name = PrintableText.escaping(domain.identifier)
            let message = "the backup holds no container of '\(name)'"
            throw ArchiveError(.notFound, message)
        }
        sort()
        findSharedInodes()
    }

    private mutating func take(_ row: Manifest.Row, of domain: Domain, in backup: IPhoneBackup) {
        let path = EntryPath(bytes: row.path)
        do throws(FlawedRecord) {
            let record = try row.record()
            if record.path.isEmpty, record.kind == .directory {
                hasRoot = true
                return
            }
            if let violation = path.violation { throw FlawedRecord(violation) }
            guard let kind = try kind(of: record, at: path, domain, backup) else { return }
            let inode = kind == .file ? record.inode : 0
            items.append(Item(path: path, number: row.number, kind: kind, inode: inode))
        } catch {
            report.lost.append(path, error.reason)
        }
    }

    /// Looks at a row; `nil` if it is left out.
    private mutating func kind(
        of record: FileRecord,
        at path: EntryPath,
        _ domain: Domain,
        _ backup: IPhoneBackup
    ) throws(FlawedRecord) -> Kind? {
        switch record.kind {
        case .directory: return .directory
        case .link(let target):
            let link = ArchiveEntry(
                path: path,
                kind: .symbolicLink(target: target),
                permissions: record.permissions,
                modificationTime: FileTime(seconds: record.time)
            )
            if let violation = link.violation { throw FlawedRecord(violation) }
            return .link
        case .file:
            if path.bytes.suffix(4).elementsEqual("-shm".utf8) {
                report.omitted.append(path, "SQLite makes it anew from the database and its -wal")
                return nil
            }
            let content = try backup.content(of: record, in: domain)
            if record.key == nil, Int64(clamping: content.size) != record.size {
                report.resized.append(path, "\(content.size) bytes, the backup says \(record.size)")
            }
            report.totals.contentBytes.addSaturating(content.size)
            return .file
        }
    }

    /// Notes what the archive holds.
    mutating func finish(_ summary: ArchiveWriter.Summary) {
        report.totals = summary.totals
        report.summary = summary
    }

    // MARK: - Order

    private mutating func sort() {
        let order = EntryPath.treeOrder(of: items.map(\.path))
        var sorted: [Item] = []
        sorted.reserveCapacity(items.count)
        // The last item that holds no others, and what lies below it in the tree can't be.
        var leaf: EntryPath?
        for index in order {
            let item = items[index]
            if item.path == sorted.last?.path {
                report.lost.append(item.path, "its path comes twice in the backup")
            } else if let leaf, item.path.isEqual(toOrBelow: leaf) {
                report.lost.append(item.path, "it lies in what is a file or a link in the backup")
            } else {
                if item.kind != .directory { leaf = item.path }
                sorted.append(item)
            }
        }
        items = sorted
        for item in items {
            switch item.kind {
            case .file: report.totals.files += 1
            case .directory: report.totals.directories += 1
            case .link: report.totals.symbolicLinks += 1
            }
        }
    }

    private mutating func findSharedInodes() {
        var seen: Set<UInt64> = []
        for item in items where item.inode != 0 {
            if !seen.insert(item.inode).inserted { sharedInodes.insert(item.inode) }
        }
    }

    /// Whether `path` is in the container, or is the container itself.
    func contains(_ path: [UInt8]) -> Bool {
        if path.isEmpty { return true }
        let wanted = EntryPath(bytes: path)
        var range = items.startIndex..<items.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let found = items[middle].path
            if found == wanted { return true }
            range =
                found.precedesInTree(wanted)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }

    /// The target of a link, relative to the link, where the backup names a place in this container.
    ///
    /// On the phone, a container lies in a directory that a UUID names. Apps with a web view hold such a
    /// link; as it is, it leads nowhere on any other device.
    mutating func relink(_ path: EntryPath, to target: [UInt8]) -> [UInt8] {
        guard let rest = ownPath(target), contains(rest) else { return target }
        let depth = path.bytes.count { $0 == UInt8(ascii: "/") }
        var relative = [UInt8]((0..<depth).map { _ in "../" }.joined().utf8) + rest
        if relative.last == UInt8(ascii: "/") { relative.removeLast() }
        if relative.isEmpty { relative = [UInt8(ascii: ".")] }
        report.relinked.append(path, "now leads to \(PrintableText.escaping(relative))")
        return relative
    }

    /// The path in a container that an absolute path on the phone names.
    private func ownPath(_ target: [UInt8]) -> [UInt8]? {
        var rest = target[...]
        let privateRoot = [UInt8]("/private/".utf8)
        if rest.starts(with: privateRoot) { rest = rest.dropFirst(privateRoot.count - 1) }
        let directory = [UInt8](report.domain.kind.directory.utf8)
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
