internal import Foundation
internal import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// Converts a backup to an archive with the layout for an iOS app.
package struct BackupConversion {
    /// The names of entries in the archive.
    package enum Layout: String, CaseIterable, Sendable {
        /// The paths for an iOS app.
        case ios
        /// The paths of Android's backups.
        case android
    }

    /// The options of a conversion.
    package struct Options: Sendable {
        package var package: String?
        package var layout = Layout.ios
        package var rules: RulesFile?
        package var manifest: AppManifest?
        package var app: AppIdentity?
        package var contentVersion: String?
        /// The archive of a conversion is usually read once, so it need not be as small as possible.
        package var compressionLevel = 1
        package var threadCount: Int?

        package init() {}
    }

    private let source: BackupSource
    private let options: Options
    private let operation: MigrationOperation

    package init(_ source: BackupSource, options: Options, on operation: MigrationOperation) {
        (self.source, self.options, self.operation) = (source, options, operation)
    }

    /// Converts the backup and gives the finished archive its name.
    package func run(to destination: ArchiveDestination) throws -> ConversionReport {
        let contents: BackupContents? =
            if case .stream(let stream) = source {
                try BackupContents(stream, cancellation: operation.check)
            } else { nil }
        let held = try contents?.package(options.package) ?? ""
        let package = try packageName(held)
        let header = try header(of: package, manifest: contents?.packages[held]?.manifest)
        let selected = try selection(held)
        return try ArchiveFile.write(to: destination, on: operation) { file in
            let writer = try ArchiveWriter(
                writingTo: file.output,
                header: header,
                level: options.compressionLevel,
                on: operation
            )
            defer { writer.abandon() }
            let entries = ConvertedEntries(
                writer,
                package: package,
                layout: options.layout,
                selected: selected
            )
            try append(held, of: contents, to: entries)
            guard entries.count > 0 else { throw nothing(entries) }
            let summary = try writer.finish()
            return entries.report(of: package, header: header, summary: summary)
        }
    }

    private func packageName(_ held: String) throws(AndroidMigrationError) -> String {
        let name = held.isEmpty ? options.package ?? options.manifest?.package ?? "" : held
        guard !name.isEmpty else {
            let message = "nothing says which package this is"
            throw AndroidMigrationError(.packageNotFound, message, remedy: .namePackage)
        }
        return name
    }

    /// The archive's header: the app on Android, and the format of its data.
    private func header(
        of package: String,
        manifest: CrossPlatformManifest?
    ) throws(AndroidMigrationError) -> ArchiveHeader {
        let manifest =
            manifest
            ?? options.rules.map {
                CrossPlatformManifest(package: package, parameters: $0.parameters)
            }
        var version = options.contentVersion
        if let app = options.app {
            guard let manifest else {
                let message =
                    "the backup has no '\(CrossPlatformManifest.fileName)', so nothing says whether "
                    + "'\(app)' may have its data"
                throw AndroidMigrationError(.appMismatch, message, remedy: .giveRules)
            }
            let parameters = try manifest.parameters(for: app)
            version = version ?? parameters.contentVersion
        }
        if version == nil, let manifest { version = try Self.contentVersion(of: manifest) }
        return ArchiveHeader(
            bundleIdentifier: package,
            platform: MigrationPlatform.android.rawValue,
            resourcesVersion: version ?? "",
            sizeEstimate: 0,
            isCompressible: true,
            creator: MigrationHost.creator,
            importers: manifest.flatMap { manifest in
                manifest.parameters.isEmpty ? nil : manifest.importers
            }
        )
    }

    /// The format that all apps on iOS expect.
    private static func contentVersion(
        of manifest: CrossPlatformManifest
    ) throws(AndroidMigrationError) -> String? {
        let versions = Set(manifest.parameters.map(\.contentVersion))
        guard versions.count <= 1 else {
            let apps = manifest.importers.joined(separator: ", ")
            let message = "the format differs by the app on iOS: \(apps)"
            throw AndroidMigrationError(.appMismatch, message, remedy: .chooseImporter)
        }
        return versions.first
    }

    /// The paths that the rules allow; `nil` without rules.
    private func selection(_ package: String) throws -> Set<EntryPath>? {
        guard let rules = options.rules else { return nil }
        let preview = Preview(
            rules,
            section: .crossPlatform,
            manifest: options.manifest,
            tree: try DataTree(source, package: package, on: operation)
        )
        guard preview.isEligible else {
            throw AndroidMigrationError(
                .notEligible,
                "the app takes no part in a transfer to iOS: "
                    + preview.reasons.joined(separator: "; ")
            )
        }
        return Set(preview.included.map(\.iosPath))
    }

    private func nothing(_ entries: ConvertedEntries) -> AndroidMigrationError {
        AndroidMigrationError(
            .nothingToConvert,
            "nothing is left to convert: \(entries.emptiness)"
        )
    }
}

// MARK: - Entries

extension BackupConversion {
    private func append(
        _ package: String,
        of contents: BackupContents?,
        to entries: ConvertedEntries
    ) throws {
        switch source {
        case .tree(let tree): try append(tree, to: entries)
        case .stream(let stream):
            let reader = try BackupReader(stream, cancellation: operation.check)
            while let item = try reader.next() {
                switch item {
                case .lost(let loss): entries.lose(loss.path, because: loss.reason)
                case .entry(let entry):
                    let item = BackupItem(entry, below: stream.packageDirectories)
                    if let path = item.path(inStorageOf: package),
                        contents?.isLaterOutside(entry, path) ?? false
                    {
                        entries.omit(path, because: "it comes again behind the entry that holds it")
                        continue
                    }
                    try append(entry, item, of: package, in: stream, to: entries)
                }
            }
        }
    }

    private func append(_ tree: RawTree, to entries: ConvertedEntries) throws {
        try tree.walk { item, directory, name in
            try operation.check()
            if Selection.isNeverSent(item.path), !entries.selects(item.path) {
                if StorageDomain.neverSent.contains(item.path) {
                    entries.omit(item.path, because: BackupItem.neverSentReason)
                }
                return
            }
            guard let domain = StorageDomain(containing: item.path), domain.iosPath != item.path
            else { return }
            let permissions = item.status.permissions
            let time = item.status.modificationTime
            switch item.kind {
            case .file(let size):
                guard entries.takes(item.path, isDirectory: false, in: domain) else { return }
                let file = try Self.open(name, of: item, in: directory)
                try entries.append(
                    file: item.path,
                    of: domain,
                    size: size,
                    permissions: permissions,
                    time: time,
                    from: file
                )
            case .directory:
                guard entries.takes(item.path, isDirectory: true, in: domain) else { return }
                try entries.append(
                    directory: item.path,
                    of: domain,
                    permissions: permissions,
                    time: time
                )
            case .link: entries.omit(item.path, because: "a symbolic link")
            case .other: entries.omit(item.path, because: "a special file")
            }
        }
    }

    private static func open(
        _ name: [UInt8],
        of item: RawTree.Item,
        in directory: OpenFile
    ) throws -> FileDescriptor {
        let message = "'\(item.path)' can't be read"
        return try AndroidMigrationError.wrapping(.unreadable, message) { () throws(SystemError) in
            try directory.descriptor.open(name, .reading)
        }
    }

    private func append(
        _ entry: BackupEntry,
        _ item: BackupItem,
        of package: String,
        in stream: BackupStream,
        to entries: ConvertedEntries
    ) throws {
        switch item {
        case .neverSent(package, _, let path) where !entries.selects(path):
            entries.omit(EntryPath(bytes: entry.path), because: BackupItem.neverSentReason)
        case .data(package, let domain, let path), .neverSent(package, let domain, let path):
            guard entries.takes(path, isDirectory: !entry.isFile, in: domain) else { return }
            if let holder = entry.holder { entries.note(path, foundInside: holder) }
            let time = FileTime(seconds: entry.modificationTime)
            if entry.isFile {
                try entries.append(file: path, of: domain, like: entry, time: time, from: stream)
            } else {
                try entries.append(
                    directory: path,
                    of: domain,
                    permissions: entry.permissions,
                    time: time
                )
            }
        case .other(let name, let reason) where name == nil || name == package:
            entries.omit(EntryPath(bytes: entry.path), because: reason)
        case .unusable(let reason):
            let loss = entry.loss(reason)
            entries.lose(loss.path, because: loss.reason)
        default: break
        }
    }
}

/// Writes the entries of a conversion, each once and after its parent directories.
final class ConvertedEntries {
    private static let smallSize: UInt64 = 64 * 1024

    private let writer: ArchiveWriter
    private let package: String
    private let layout: BackupConversion.Layout
    private let selected: Set<EntryPath>?
    /// Hashes are enough to distinguish paths, because each process has its own seed.
    private var files: Set<Int> = []
    private var directories: Set<Int> = []
    private var omitted = ConversionReport.List()
    private var lost = ConversionReport.List()
    private var inside = ConversionReport.List()
    /// The first files that were written.
    private var taken: [String] = []

    /// The number of entries written, without directories that were only added as parents.
    private(set) var count = 0

    init(
        _ writer: ArchiveWriter,
        package: String,
        layout: BackupConversion.Layout,
        selected: Set<EntryPath>?
    ) {
        (self.writer, self.package, self.layout) = (writer, package, layout)
        self.selected = selected
    }

    func omit(_ path: EntryPath, because reason: String) {
        omitted.append(path.description, because: reason)
    }

    func lose(_ path: String, because reason: String) {
        lost.append(path, because: reason)
    }

    func note(_ path: EntryPath, foundInside holder: String) {
        inside.append(path.description, because: "inside '\(holder)'")
    }

    /// Whether rules select the item at `path`.
    func selects(_ path: EntryPath) -> Bool { selected?.contains(path) ?? false }

    /// Why nothing is left, according to the first item.
    var emptiness: String {
        guard let first = lost.items.first ?? omitted.items.first else {
            return "the rules, or what iOS can receive, leave no entry"
        }
        let rest = lost.count + omitted.count - 1
        return "'\(first.path)': \(first.reason)" + (rest > 0 ? "; and \(rest) more" : "")
    }

    /// Whether to write an entry; reports it if not, unless it is a directory that already exists.
    func takes(_ path: EntryPath, isDirectory: Bool, in domain: StorageDomain) -> Bool {
        if let selected, !selected.contains(path) {
            if !isDirectory { omit(path, because: "the rules leave it out") }
            return false
        }
        if [.database, .deviceDatabase].contains(domain), !isDirectory,
            path.bytes.suffix(4).elementsEqual("-shm".utf8)
        {
            omit(path, because: "SQLite makes it anew from the database and its -wal")
            return false
        }
        let name = self.path(of: path, in: domain)
        if let violation = name.violation {
            lose(path.description, because: violation)
            return false
        }
        if isDirectory, directories.contains(name.hashValue) { return false }
        if files.contains(name.hashValue) || (!isDirectory && directories.contains(name.hashValue))
        {
            lose(path.description, because: "its path comes twice in the backup")
            return false
        }
        var parent = name.parent
        while let directory = parent {
            if files.contains(directory.hashValue) {
                lose(path.description, because: "it lies in what is a file in the backup")
                return false
            }
            parent = directory.parent
        }
        return true
    }

    func append(
        directory path: EntryPath,
        of domain: StorageDomain,
        permissions: UInt16,
        time: FileTime
    ) throws {
        let name = self.path(of: path, in: domain)
        try appendParents(of: name)
        try write(directory: name, permissions: permissions & 0o777, time: time)
        count += 1
    }

    /// Writes a file with the content of `file` from its current position.
    func append(
        file path: EntryPath,
        of domain: StorageDomain,
        size: UInt64,
        permissions: UInt16,
        time: FileTime,
        from file: borrowing FileDescriptor
    ) throws {
        let entry = try begin(path, of: domain, size: size, permissions: permissions, time: time)
        try writer.append(entry, contentFrom: file)
    }

    /// Writes a file with content from `stream`.
    func append(
        file path: EntryPath,
        of domain: StorageDomain,
        like source: BackupEntry,
        time: FileTime,
        from stream: BackupStream
    ) throws {
        let entry = try begin(
            path,
            of: domain,
            size: source.size,
            permissions: source.permissions,
            time: time
        )
        if source.size <= Self.smallSize {
            let content = try stream.read(at: source.contentOffset, count: Int(source.size))
            return try writer.append(entry, content: content.span)
        }
        try BackupStream.reading { () throws(SystemError) in
            try stream.file.descriptor.seek(to: source.contentOffset)
        }
        try writer.append(entry, contentFrom: stream.file.descriptor)
    }

    private func begin(
        _ path: EntryPath,
        of domain: StorageDomain,
        size: UInt64,
        permissions: UInt16,
        time: FileTime
    ) throws -> ArchiveEntry {
        let name = self.path(of: path, in: domain)
        try appendParents(of: name)
        files.insert(name.hashValue)
        count += 1
        if taken.count < ConversionReport.List.limit { taken.append(name.description) }
        return ArchiveEntry(
            path: name,
            kind: .file(size: size),
            permissions: permissions & 0o777,
            modificationTime: time
        )
    }

    private func appendParents(of path: EntryPath) throws {
        var missing: [EntryPath] = []
        var parent = path.parent
        while let directory = parent, !directories.contains(directory.hashValue) {
            missing.append(directory)
            parent = directory.parent
        }
        for directory in missing.reversed() {
            try write(directory: directory, permissions: 0o700, time: FileTime(seconds: 0))
        }
    }

    private func write(
        directory path: EntryPath,
        permissions: UInt16,
        time: FileTime
    ) throws {
        directories.insert(path.hashValue)
        try writer.append(
            ArchiveEntry(
                path: path,
                kind: .directory,
                permissions: permissions,
                modificationTime: time
            )
        )
    }

    private func path(of path: EntryPath, in domain: StorageDomain) -> EntryPath {
        guard layout == .android, let relative = domain.relativePath(of: path) else { return path }
        return EntryPath(
            bytes: [UInt8]("apps/\(package)/\(domain.token)/".utf8) + relative.bytes
        )
    }

    func report(
        of package: String,
        header: ArchiveHeader,
        summary: ArchiveWriter.Summary
    ) -> ConversionReport {
        ConversionReport(
            package: package,
            header: header,
            totals: summary.totals,
            bytes: summary.archiveBytes,
            fingerprint: summary.fingerprint,
            omitted: omitted,
            salvaged: lost.count > 0 ? taken : [],
            lost: lost,
            inside: inside
        )
    }
}
