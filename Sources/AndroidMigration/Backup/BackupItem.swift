package import MigrationArchive
internal import MigrationSystem

/// The meaning of a backup's entry, according to its path.
package enum BackupItem: Sendable {
    /// Data of the package, with its path as on iOS.
    case data(package: String, domain: StorageDomain, path: EntryPath)

    /// The package's `_manifest`.
    case packageManifest(package: String)

    /// The package's `_cross_platform_manifest`.
    case crossPlatformManifest(package: String)

    /// A directory around the data, which can be ignored.
    case container

    /// An item that no iOS app can receive, and why.
    case other(package: String?, reason: String)

    /// Reads the path of an entry.
    ///
    /// A path that does not begin with `apps/` is from a plain tar file, with paths as on a device
    /// (`data/data/<package>/files/…`) or as in a raw tree (`files/…`, `_external/…`).
    package init(_ entry: BackupEntry) {
        guard entry.path.count <= Self.pathLimit else {
            self = .other(package: nil, reason: "the path is longer than 4,096 bytes")
            return
        }
        var names = entry.path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { [UInt8]($0) }
        if names.count > 1, names.last == [] { names.removeLast() }
        if names.first == [UInt8(ascii: ".")] { names.removeFirst() }
        if names.isEmpty || names == [[]] {
            self = .container
            return
        }
        if names.first == [], names.count > 1 { names.removeFirst() }
        let path = EntryPath(bytes: [UInt8](names.joined(separator: [UInt8(ascii: "/")])))
        if let violation = path.violation {
            self = .other(package: nil, reason: violation)
            return
        }
        let words = names.prefix(2).map { String(decoding: $0, as: UTF8.self) }
        switch words.first {
        case "apps": self = Self.item(names, of: entry)
        case "shared": self = .other(package: nil, reason: "the shared storage of the device")
        default: self = Self.plainItem(names, of: entry)
        }
        if case .data = self, let reason = Self.obstacle(entry.typeFlag) {
            self = .other(package: package, reason: reason)
        }
    }

    /// The longest path that a device can have (Linux, PATH_MAX).
    static let pathLimit = 4096

    /// The package of the item, if the path names it.
    package var package: String? {
        switch self {
        case .data(let package, _, _), .packageManifest(let package),
            .crossPlatformManifest(let package):
            package
        case .other(let package, _): package
        case .container: nil
        }
    }

    private static func item(_ names: [[UInt8]], of entry: BackupEntry) -> BackupItem {
        guard names.count > 2 else {
            return isDirectory(entry) ? .container : .other(package: nil, reason: "no domain")
        }
        let package = String(decoding: names[1], as: UTF8.self)
        let token = names[2]
        guard let domain = StorageDomain(token: token) else {
            if names.count == 3, !isDirectory(entry) {
                switch String(decoding: token, as: UTF8.self) {
                case PackageManifest.fileName: return .packageManifest(package: package)
                case CrossPlatformManifest.fileName:
                    return .crossPlatformManifest(package: package)
                default: break
                }
            }
            return .other(package: package, reason: reason(String(decoding: token, as: UTF8.self)))
        }
        guard names.count > 3 else { return .container }
        let path = EntryPath(bytes: [UInt8](names.dropFirst(3).joined(separator: [0x2F])))
        return .data(package: package, domain: domain, path: domain.iosPath(of: path))
    }

    private static func plainItem(_ names: [[UInt8]], of entry: BackupEntry) -> BackupItem {
        let components: [[UInt8]]
        var package = ""
        if let place = DevicePath(names) {
            components = place.components
            package = place.package
        } else if names[0] == [UInt8]("_external".utf8) {
            components =
                StorageDomain.external.iosPath.components.map { [UInt8]($0) }
                + names.dropFirst()
        } else if names[0] == [UInt8]("_device".utf8) {
            components =
                StorageDomain.deviceRoot.iosPath.components.map { [UInt8]($0) }
                + names.dropFirst()
        } else {
            components = [[UInt8]("app".utf8)] + names
        }
        let path = EntryPath(bytes: [UInt8](components.joined(separator: [0x2F])))
        guard let domain = StorageDomain(containing: path), domain.iosPath != path else {
            return .container
        }
        if Selection.isNeverSent(path) {
            return .other(package: package, reason: "Android never sends it")
        }
        return .data(package: package, domain: domain, path: path)
    }

    private static func isDirectory(_ entry: BackupEntry) -> Bool {
        entry.typeFlag == TypeFlag.directory
    }

    private static func reason(_ token: String) -> String {
        switch token {
        case "a": "the app itself"
        case "obb": "an expansion file of the app"
        case "k": "key-value data, which only the app's own agent can read"
        case "_meta": "the state of widgets"
        case "c", "d_c": "a cache"
        case "nb", "d_nb": "data that is not to be backed up"
        default: "a domain that is not known"
        }
    }

    /// Why an entry of this kind is omitted; `nil` for files and directories.
    private static func obstacle(_ typeFlag: UInt8) -> String? {
        switch typeFlag {
        case TypeFlag.regular, TypeFlag.regularOfOldTar, TypeFlag.directory, TypeFlag.contiguous:
            nil
        case TypeFlag.symbolicLink: "a symbolic link"
        case TypeFlag.hardLink: "a hard link"
        case TypeFlag.characterDevice, TypeFlag.blockDevice: "a device"
        case TypeFlag.fifo: "a FIFO"
        case TypeFlag.gnuSparse: "a sparse file in GNU tar's form"
        default: "an entry of a kind that Android does not write"
        }
    }
}

extension BackupEntry {
    /// The entry as a list shows it; `nil` if its path is empty.
    package var archiveEntry: ArchiveEntry? {
        guard !path.isEmpty else { return nil }
        let isDirectory = typeFlag == TypeFlag.directory
        return ArchiveEntry(
            path: EntryPath(bytes: path.last == UInt8(ascii: "/") ? path.dropLast() : path),
            kind: isDirectory ? .directory : .file(size: size),
            permissions: permissions,
            modificationTime: FileTime(seconds: modificationTime)
        )
    }
}
