internal import MigrationArchive
internal import MigrationSystem

/// The form and the contents of a backup.
package struct BackupSummary: Sendable {
    /// The contents of one domain.
    package struct Amount: Hashable, Sendable, Codable {
        package var files = 0
        package var bytes: UInt64 = 0
    }

    /// The form of the stream; `nil` for a copy of an app's directory.
    package let form: BackupStream.Packaging?

    /// The contents of each package, by domain; the name is empty if unknown.
    package private(set) var packages: [String: [StorageDomain: Amount]] = [:]

    /// The packages' manifests.
    package private(set) var manifests: [CrossPlatformManifest] = []

    /// The number of entries that are missing from the backup.
    package private(set) var lost: [LostEntry] = []

    private static let lossLimit = 1_000

    /// Reads a whole backup and calls `body` for each entry.
    init(
        _ source: BackupSource,
        on operation: MigrationOperation,
        _ body: (ArchiveEntry) throws -> Void
    ) throws {
        switch source {
        case .tree(let tree):
            form = nil
            try tree.walk { item, _, _ in
                try operation.check()
                try body(Self.entry(item))
                guard case .file(let size) = item.kind,
                    let domain = StorageDomain(containing: item.path)
                else { return }
                count(size, of: "", in: domain)
            }
        case .stream(let stream):
            form = stream.form
            let contents = try BackupContents(stream, cancellation: operation.check)
            for name in contents.names { packages[name] = [:] }
            manifests = contents.names.compactMap { contents.packages[$0]?.manifest }
            let reader = try BackupReader(stream, cancellation: operation.check)
            var isEmpty = true
            while let item = try reader.next() {
                switch item {
                case .lost(let loss): if lost.count < Self.lossLimit { lost.append(loss) }
                case .entry(let entry):
                    if let shown = entry.archiveEntry { try body(shown) }
                    let item = BackupItem(entry, below: stream.packageDirectories)
                    if count(entry, as: item) { isEmpty = false }
                }
            }
            if isEmpty { throw contents.nothing(contents.names.first) }
        }
    }

    /// Counts an entry of a stream; returns whether it holds data of an app.
    private mutating func count(_ entry: BackupEntry, as item: BackupItem) -> Bool {
        switch item {
        case .data(let name, let domain, _):
            if entry.isFile { count(entry.size, of: name, in: domain) }
        case .other, .neverSent: break
        case .unusable(let reason):
            if lost.count < Self.lossLimit { lost.append(entry.loss(reason)) }
        case .packageManifest, .crossPlatformManifest, .container: return false
        }
        return true
    }

    private mutating func count(_ size: UInt64, of package: String, in domain: StorageDomain) {
        packages[package, default: [:]][domain, default: Amount()].files += 1
        packages[package]?[domain]?.bytes.addSaturating(size)
    }

    private static func entry(_ item: RawTree.Item) -> ArchiveEntry {
        let kind: ArchiveEntry.Kind =
            switch item.kind {
            case .file(let size): .file(size: size)
            case .directory: .directory
            case .link(let target): .symbolicLink(target: target)
            case .other: .file(size: 0)
            }
        return ArchiveEntry(
            path: item.path,
            kind: kind,
            permissions: item.status.permissions,
            modificationTime: item.status.modificationTime
        )
    }
}
